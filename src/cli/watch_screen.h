/*
 * The live picture of `tactus watch` on a terminal: streams as rows, the chosen one's lateness as a
 * histogram, keys.
 */
#ifndef TT_CLI_WATCH_SCREEN_H
#define TT_CLI_WATCH_SCREEN_H

#include "cli/watch_show.h"

struct tt_watch_screen;

/* What the one who watches wants done; what is only of the picture is done here. */
enum tt_watch_wish { TT_WISH_NOTHING, TT_WISH_DRAW, TT_WISH_QUIT, TT_WISH_RESET, TT_WISH_SAVE };

/* NULL where standard input and output are no terminal that can be drawn on. */
struct tt_watch_screen *tt_watch_screen_new(void);
/* The terminal is as it was. NULL will do. */
void tt_watch_screen_free(struct tt_watch_screen *screen);

/* The next key, if there is one. */
enum tt_watch_wish tt_watch_screen_key(struct tt_watch_screen *screen);
/* Draws, unless it is paused. */
void tt_watch_screen_draw(struct tt_watch_screen *screen, const struct tt_watch_view *view);
/* One line at the bottom, until the next. */
void tt_watch_screen_say(struct tt_watch_screen *screen, const char *format, ...) TT_PRINTF(2, 3);

#endif
