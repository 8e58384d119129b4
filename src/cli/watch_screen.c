/*
 * See watch_screen.h. ncurses; a terminal of any size, with colour or without.
 */
#include "cli/watch_screen.h"

#include <inttypes.h>
#include <math.h>
#include <ncurses.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audio/finding.h"
#include "cli/watch_rows.h"
#include "report/bars.h"
#include "report/chart_axis.h"
#include "report/finding_text.h"
#include "report/plural.h"

#define SAID_BYTES  200
#define BAR_ROWS    6
#define HEAD_ROWS   2
#define FOOT_ROWS   2
#define ROW_WIDTH   100
#define ROWS_MIN    3
#define LINES_PLAIN 16 /* of a terminal that has room for rows alone */
#define TEXT_BYTES  1024
#define KEYS        "q quit  up/down choose  s sort  p pause  r reset  w save a page"
#define KEYS_NARROW "q quit s sort p pause r reset w save"
#define FULL_WIDTH  79 /* of a row; below it what matters most is shown alone, in 39 cells */
#define ID_NARROW   7  /* its end: the number of a talker's stream */

enum { COLOUR_GOOD = 1, COLOUR_WARNING, COLOUR_FAULT };

struct tt_watch_screen {
    SCREEN *terminal;
    WINDOW *sheet; /* as wide as a row, however narrow the terminal: nothing wraps */
    enum tt_watch_order order;
    size_t chosen; /* a place in the order */
    size_t count;  /* of rows, at the last drawing */
    bool paused;
    bool turned; /* while it was */
    char said[SAID_BYTES];
};

struct tt_watch_screen *tt_watch_screen_new(void)
{
    struct tt_watch_screen *screen;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        return NULL;
    }
    screen = calloc(1, sizeof(*screen));
    if (!screen) {
        return NULL;
    }
    screen->terminal = newterm(NULL, stdout, stdin);
    if (!screen->terminal || !tigetstr("cup") || tigetstr("cup") == (char *)-1) {
        tt_watch_screen_free(screen);
        return NULL;
    }
    cbreak();
    noecho();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    curs_set(0);
    if (has_colors()) {
        start_color();
        use_default_colors();
        init_pair(COLOUR_GOOD, COLOR_GREEN, -1);
        init_pair(COLOUR_WARNING, COLOR_YELLOW, -1);
        init_pair(COLOUR_FAULT, COLOR_RED, -1);
    }
    return screen;
}

void tt_watch_screen_free(struct tt_watch_screen *screen)
{
    if (!screen) {
        return;
    }
    if (screen->sheet) {
        delwin(screen->sheet);
    }
    if (screen->terminal) {
        endwin();
        delscreen(screen->terminal);
    }
    free(screen);
}

static bool is_narrow(void)
{
    return COLS < FULL_WIDTH;
}

static void go_on(struct tt_watch_screen *screen)
{
    screen->paused = false;
    screen->said[0] = 0;
}

/* What changes the picture; one that stands still is taken anew then. */
static void turn(struct tt_watch_screen *screen, int key)
{
    screen->turned = true;
    switch (key) {
    case 's':
        screen->order = (screen->order + 1) % TT_WATCH_ORDERS;
        break;
    case KEY_UP:
    case 'k':
        screen->chosen -= screen->chosen > 0;
        break;
    case KEY_DOWN:
    case 'j':
        screen->chosen += screen->chosen + 1 < screen->count;
        break;
    default:
        screen->turned = false; /* another size, too */
        break;
    }
}

enum tt_watch_wish tt_watch_screen_key(struct tt_watch_screen *screen)
{
    int key = getch();

    switch (key) {
    case ERR:
        return TT_WISH_NOTHING;
    case 'q':
        return TT_WISH_QUIT;
    case 'r':
        go_on(screen);
        return TT_WISH_RESET;
    case 'w':
        return TT_WISH_SAVE;
    case 'p':
    case ' ':
        if (screen->paused) {
            go_on(screen);
        } else {
            screen->paused = true;
            tt_watch_screen_say(screen, "paused, counting goes on; p shows it again");
        }
        return TT_WISH_DRAW;
    default:
        turn(screen, key);
        return TT_WISH_DRAW;
    }
}

void tt_watch_screen_say(struct tt_watch_screen *screen, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(screen->said, sizeof(screen->said), format, args);
    va_end(args);
    mvaddstr(LINES - 1, 0, screen->said);
    clrtoeol();
    refresh();
}

/* In its colour. Formatted here: where the text is longer than the terminal has cells, wprintw of
 * ncurses takes the arguments twice. */
static void cell(WINDOW *sheet, int colour, const char *format, ...) TT_PRINTF(3, 4);
static void cell(WINDOW *sheet, int colour, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (colour) {
        wattron(sheet, COLOR_PAIR(colour) | (colour == COLOUR_FAULT ? A_BOLD : 0));
    }
    waddstr(sheet, text);
    if (colour) {
        wattroff(sheet, COLOR_PAIR(colour) | A_BOLD);
    }
}

static int margin_colour(const struct tt_observed *o)
{
    return o->margin.n == 0 ? 0 : o->margin.min < 0 ? COLOUR_FAULT : COLOUR_GOOD;
}

/* To four digits, which with their unit have room in so few cells. */
static void time_cell(WINDOW *sheet, int colour, bool known, int64_t ns)
{
    char text[TT_AXIS_TEXT];
    double power = ns == 0 ? 1 : pow(10, floor(log10(fabs((double)ns))) - 3);

    cell(sheet, colour, " %10s",
         known ? tt_axis_time(round((double)ns / power) * power, text) : "-");
}

static void draw_narrow(WINDOW *sheet, const struct tt_watch_row *row, int y, bool chosen)
{
    const struct tt_observed *o = row->stream;
    char text[TT_STREAM_ID_TEXT];
    size_t length = strlen(tt_stream_id_format(o->avtp.stream_id, text));

    wmove(sheet, y, 0);
    wattrset(sheet, chosen ? A_REVERSE : A_NORMAL);
    cell(sheet, 0, "%2zu %7s", row->number, o->avtp.sv ? text + length - ID_NARROW : "-");
    wattrset(sheet, A_NORMAL);
    cell(sheet, o->lost > 0 ? COLOUR_FAULT : COLOUR_GOOD, " %6" PRIu64, o->lost);
    time_cell(sheet, row->late_ns > 1000000 ? COLOUR_WARNING : 0, row->late_ns > INT64_MIN,
              row->late_ns);
    time_cell(sheet, margin_colour(o), o->margin.n > 0, o->margin.min);
}

static void draw_row(WINDOW *sheet, const struct tt_watch_row *row, int y, bool chosen)
{
    const struct tt_observed *o = row->stream;
    char text[TT_SUBTYPE_TEXT];
    struct tt_summary interval;

    tt_hist_summarize(&o->interval, &interval);
    wmove(sheet, y, 0);
    wclrtoeol(sheet);
    if (chosen) {
        wattron(sheet, A_REVERSE);
    }
    cell(sheet, 0, "%2zu %-22s", row->number,
         o->avtp.sv ? tt_stream_id_format(o->avtp.stream_id, text) : "-");
    if (chosen) {
        wattroff(sheet, A_REVERSE);
    }
    cell(sheet, 0, " %-4.4s", tt_watch_subtype(o->avtp.subtype, text));
    cell(sheet, 0, " %7.1f", tt_watch_measured_rate(o));
    cell(sheet, o->lost > 0 ? COLOUR_FAULT : COLOUR_GOOD, " %6" PRIu64, o->lost);
    time_cell(sheet, row->late_ns > 1000000 ? COLOUR_WARNING : 0, row->late_ns > INT64_MIN,
              row->late_ns);
    time_cell(sheet, 0, interval.n > 0, (int64_t)interval.stdev);
    time_cell(sheet, margin_colour(o), o->margin.n > 0, o->margin.min);
}

/* In the rows from `top`, as wide as the terminal is. */
static void draw_histogram(WINDOW *sheet, const struct tt_observed *o, int top)
{
    struct tt_bars bars;
    char text[2][TT_AXIS_TEXT];
    int most = COLS - 2 < TT_BARS_MAX ? COLS - 2 : TT_BARS_MAX;

    if (o->lateness.n == 0 || most < 8) {
        mvwaddstr(sheet, top, 0, "lateness: not known yet");
        return;
    }
    tt_bars_fill(&bars, &o->lateness, (size_t)most);
    wmove(sheet, top, 0);
    cell(sheet, 0, "lateness, %s to %s:", tt_axis_time((double)bars.from, text[0]),
         tt_axis_time((double)bars.from + (double)bars.count * (double)bars.width, text[1]));
    for (size_t i = 0; i < bars.count; i++) {
        /* Few are seen too. */
        uint64_t height = (bars.of[i] * BAR_ROWS + bars.most - 1) / bars.most;

        for (uint64_t k = 0; k < height; k++) {
            mvwaddch(sheet, top + BAR_ROWS - (int)k, (int)i, '#');
        }
    }
}

/* How much of a text goes into a line of so many cells: up to a space, where there is one. */
static int line_length(const char *text, int width)
{
    int length = (int)strlen(text);

    if (length <= width) {
        return length;
    }
    for (length = width; length > 0 && text[length] != ' '; length--) {
    }
    return length > 0 ? length : width;
}

/* In lines as wide as the terminal, from `top` to before `end`; what has no room is counted.
 * Returns how many lines all of them take; nothing is drawn where `sheet` is NULL. */
static int draw_findings(WINDOW *sheet, const struct tt_finding *findings, size_t n, int top,
                         int end)
{
    static const int colours[TT_SEVERITIES] = {0, COLOUR_WARNING, COLOUR_FAULT};
    int width = COLS > 9 ? COLS - 1 : 8;
    int y = top;

    for (size_t i = 0; i < n; i++) {
        char formed[TT_FINDING_TEXT];
        const char *text = tt_finding_text(&findings[i], formed);

        while (*text != 0) {
            int length = line_length(text, width);

            if (sheet && y == end - 1 && (i + 1 < n || text[length] != 0)) {
                mvwprintw(sheet, y, 0, "... and more: w saves all of it");
                return y + 1 - top;
            }
            if (sheet) {
                wmove(sheet, y, 0);
                cell(sheet, colours[findings[i].severity], "%.*s", length, text);
            }
            y++;
            text += length;
            text += *text == ' ';
        }
    }
    return y - top;
}

static void draw_head(WINDOW *sheet, const struct tt_watch_screen *screen,
                      const struct tt_watch_view *view)
{
    const struct tt_observer *observer = view->observer;

    wmove(sheet, 0, 0);
    if (is_narrow()) {
        cell(sheet, observer->dropped_here > 0 ? COLOUR_FAULT : 0, "%s%s %.0f s, %zu %s, by %s",
             observer->dropped_here > 0 ? "TOO SLOW: " : "", view->source,
             (double)view->elapsed_ns / 1e9, observer->count,
             tt_plural(observer->count, "stream", "streams"), tt_watch_order_name(screen->order));
        wattron(sheet, A_UNDERLINE);
        wmove(sheet, 1, 0);
        cell(sheet, 0, "%2s %7s %6s %10s %10s", "#", "ID ends", "lost", "late p99", "margin min");
        wattroff(sheet, A_UNDERLINE);
        return;
    }
    cell(sheet, 0, "%s, %.0f s: %" PRIu64 " packets, %zu %s, gPTP %s, sorted by %s%s", view->source,
         (double)view->elapsed_ns / 1e9, observer->packets, observer->count,
         tt_plural(observer->count, "stream", "streams"),
         observer->traffic.gptp > 0 ? "is here" : "not seen", tt_watch_order_name(screen->order),
         observer->dropped_here > 0 ? ", this machine is too slow and loses packets" : "");
    wattron(sheet, A_UNDERLINE);
    wmove(sheet, 1, 0);
    cell(sheet, 0, "%2s %-22s %-4s %7s %6s %10s %10s %10s", "#", "stream ID", "type", "PDU/s",
         "lost", "late p99", "intvl sd", "margin min");
    wattroff(sheet, A_UNDERLINE);
}

static WINDOW *size_sheet(struct tt_watch_screen *screen)
{
    int width = COLS > ROW_WIDTH ? COLS : ROW_WIDTH;

    if (screen->sheet && getmaxx(screen->sheet) == width && getmaxy(screen->sheet) == LINES) {
        return screen->sheet;
    }
    if (screen->sheet) {
        delwin(screen->sheet);
    }
    screen->sheet = newpad(LINES, width);
    return screen->sheet;
}

/* The sheet as it is, which may be of another size, and the lines below it. */
static void show_sheet(const struct tt_watch_screen *screen)
{
    erase();
    mvaddnstr(LINES - 2, 0, is_narrow() ? KEYS_NARROW : KEYS, COLS);
    mvaddnstr(LINES - 1, 0, screen->said, COLS);
    wnoutrefresh(stdscr);
    if (LINES > FOOT_ROWS) {
        pnoutrefresh(screen->sheet, 0, 0, 0, 0, LINES - FOOT_ROWS - 1, COLS - 1);
    }
    doupdate();
}

/* What is below the rows: the chosen stream's histogram, and what is found of it. */
static void draw_chosen(WINDOW *sheet, const struct tt_watch_view *view,
                        const struct tt_observed *o, int rows_end)
{
    struct tt_finding findings[TT_FINDINGS_MAX];
    size_t n = tt_findings(view->observer, o, findings);

    draw_histogram(sheet, o, rows_end + 1);
    draw_findings(sheet, findings, n, rows_end + BAR_ROWS + 2, LINES - FOOT_ROWS);
}

/* How many rows there is room for: at least three, and where the chosen stream's findings leave
 * more, that. */
static size_t rows_room(const struct tt_watch_view *view, const struct tt_observed *chosen)
{
    int room = LINES - HEAD_ROWS - FOOT_ROWS;
    struct tt_finding findings[TT_FINDINGS_MAX];
    size_t n;

    if (LINES <= LINES_PLAIN || !chosen) {
        return room > 0 ? (size_t)room : 1;
    }
    n = tt_findings(view->observer, chosen, findings);
    room -= BAR_ROWS + 2 + draw_findings(NULL, findings, n, 0, 0);
    return room > ROWS_MIN ? (size_t)room : ROWS_MIN;
}

void tt_watch_screen_draw(struct tt_watch_screen *screen, const struct tt_watch_view *view)
{
    struct tt_watch_row rows[TT_WATCH_ROWS_MAX];
    WINDOW *sheet = screen->sheet;
    const struct tt_observed *chosen;
    size_t room;
    size_t first;
    size_t n;

    if (screen->paused && sheet && !screen->turned) {
        show_sheet(screen);
        return;
    }
    screen->turned = false;
    sheet = size_sheet(screen);
    if (!sheet) {
        return;
    }
    n = tt_watch_rows(view->observer, screen->order, rows);
    screen->count = n;
    screen->chosen = n > 0 && screen->chosen >= n ? n - 1 : screen->chosen;
    chosen = n > 0 ? rows[screen->chosen].stream : NULL;
    room = rows_room(view, chosen);
    first = screen->chosen >= room ? screen->chosen - room + 1 : 0;
    werase(sheet);
    draw_head(sheet, screen, view);
    for (size_t i = first; i < n && i - first < room; i++) {
        (is_narrow() ? draw_narrow : draw_row)(sheet, &rows[i], HEAD_ROWS + (int)(i - first),
                                               i == screen->chosen);
    }
    if (chosen && LINES > LINES_PLAIN) {
        draw_chosen(sheet, view, chosen, HEAD_ROWS + (int)(n < room ? n : room));
    }
    show_sheet(screen);
}
