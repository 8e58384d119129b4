/*
 * See html.h. HTML5 and inline SVG; the figures have role img with title and desc (WAI-ARIA).
 */
#include "report/html.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_FROM 30 /* characters */

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--quiet:#57606a;--rule:#d5dae0;"
    "--a:#0a5cc2;--b:#b3470b;--band:#0a5cc238;--mark:#6a1fa8;--card:#f5f7f9;--shade:#1b1f2440}"
    "@media(prefers-color-scheme:dark){:root{--paper:#12161b;--ink:#e4e8ec;--quiet:#9aa5b1;"
    "--rule:#333b45;--a:#6cb0ff;--b:#ff9d5c;--band:#6cb0ff40;--mark:#cf9bff;--card:#1a2027;--shade:"
    "#e4e8ec50}}"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;padding:1rem;max-width:84rem;background:var(--paper);color:var(--ink);"
    "font:15px/1.5 system-ui,sans-serif}"
    "h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0 1rem;overflow-wrap:anywhere}"
    "h2{font-size:1.15rem;margin:2rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--rule);"
    "overflow-wrap:anywhere}"
    "p{max-width:50rem;margin:.5rem 0;overflow-wrap:anywhere}"
    /* What goes on beyond an edge is under a shadow there. */
    ".scroll{overflow-x:auto;margin:.75rem 0;background:"
    "linear-gradient(90deg,var(--paper) 1rem,transparent 2rem) local,"
    "linear-gradient(270deg,var(--paper) 1rem,transparent 2rem) local,"
    "linear-gradient(90deg,var(--shade),transparent .8rem),"
    "linear-gradient(270deg,var(--shade),transparent .8rem)}"
    ".scroll:focus-visible{outline:2px solid var(--a)}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.82rem}"
    "caption,figcaption{text-align:left;font-weight:600;padding:.25rem 0}"
    "th,td{padding:.2rem .45rem;text-align:left;white-space:nowrap;vertical-align:top;"
    "border-bottom:1px solid var(--rule)}"
    "th{color:var(--quiet);font-weight:600}"
    ".n{text-align:right}.w{white-space:normal;min-width:18rem}"
    ".row{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),1fr))}"
    "figure{margin:0;min-width:0;max-width:42rem}"
    "svg{display:block;width:100%;height:auto}"
    "svg text{fill:var(--quiet);font:12px system-ui,sans-serif}"
    ".end{text-anchor:end}.middle{text-anchor:middle}"
    ".axis,.grid{stroke:var(--rule);fill:none}.axis{stroke:var(--quiet)}"
    ".a,.b{fill:none;stroke-width:1.5}.a{stroke:var(--a)}.b{stroke:var(--b)}"
    "svg text.ta{fill:var(--a)}svg text.tb{fill:var(--b)}svg text.tm{fill:var(--mark)}"
    "svg .ta,svg .tb,svg .tm{paint-order:stroke;stroke:var(--paper);stroke-width:3px}"
    ".bar{fill:var(--a)}.band{fill:var(--band);stroke:var(--a)}"
    ".mark{stroke:var(--mark);stroke-dasharray:5 3;fill:none}"
    "dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.2rem 1rem;"
    "margin:.75rem 0;padding:.75rem 1rem;background:var(--card);border-radius:.4rem;"
    "font-size:.9rem}"
    "dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}"
    /* On a phone what a row says in words is below the row, and headings are in front of figures.
     */
    "@media(max-width:40rem){svg text{font-size:15px}.words,.words caption,.words tbody,.words tr,"
    ".words .w{display:block}.words th,.words th.w{display:none}"
    ".words td{display:inline-block;border:0}"
    ".words .n::before{content:attr(data-th)' ';color:var(--quiet)}"
    ".words td.w{display:block;min-width:0;padding-bottom:.4rem;"
    "border-bottom:1px solid var(--rule)}}"
    "@media print{.scroll{overflow:visible}}";

void tt_html_text(FILE *out, const char *text)
{
    for (; *text != 0; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            /* Control characters are in no HTML, escaped or not. */
            fputc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, out);
        }
    }
}

static void element(FILE *out, const char *open, const char *text, const char *close)
{
    fputs(open, out);
    tt_html_text(out, text);
    fputs(close, out);
}

int tt_html_open(struct tt_html *page, const char *path, const char *title)
{
    *page = (struct tt_html){0};
    int error = tt_whole_file_open(&page->file, path);
    FILE *out = page->file.out;

    if (error) {
        return error;
    }
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n",
          out);
    element(out, "<title>", title, "</title>\n");
    fprintf(out, "<style>%s</style>\n<main>\n", style);
    element(out, "<h1>", title, "</h1>\n");
    return 0;
}

int tt_html_close(struct tt_html *page)
{
    fputs("</main>\n</html>\n", page->file.out);
    return tt_whole_file_close(&page->file);
}

void tt_html_heading(struct tt_html *page, const char *text)
{
    element(page->file.out, "<h2>", text, "</h2>\n");
}

void tt_html_vparagraph(struct tt_html *page, const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) < 0) {
        text = NULL;
    }
    element(page->file.out, "<p>", text ? text : "?", "</p>\n");
    free(text);
}

void tt_html_paragraph(struct tt_html *page, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tt_html_vparagraph(page, format, args);
    va_end(args);
}

/* Whether the last column is in words, which take several lines. */
static bool has_words(const struct tt_table *table)
{
    size_t last = table->column_count - 1;
    bool words = false;

    for (size_t i = last; i < table->cell_count; i += table->column_count) {
        words = words || strlen(tt_table_text(table, i)) > WORDS_FROM;
    }
    return words && table->columns[last].align == TT_ALIGN_LEFT;
}

static const char *cell_class(const struct tt_table *table, size_t column, bool words)
{
    if (table->columns[column].align == TT_ALIGN_RIGHT) {
        return " class=\"n\"";
    }
    return words && column + 1 == table->column_count ? " class=\"w\"" : "";
}

void tt_html_table(struct tt_html *page, const char *caption, const struct tt_table *table)
{
    FILE *out = page->file.out;
    bool words = has_words(table);

    /* What scrolls can be reached by keyboard. */
    element(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", caption,
            words ? "\">\n<table class=\"words\">\n" : "\">\n<table>\n");
    element(out, "<caption>", caption, "</caption>\n<tr>");
    for (size_t c = 0; c < table->column_count; c++) {
        fprintf(out, "<th scope=\"col\"%s>", cell_class(table, c, words));
        element(out, "", table->columns[c].heading, "</th>");
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t c = i % table->column_count;

        fprintf(out, "%s<td%s", c == 0 ? "</tr>\n<tr>" : "", cell_class(table, c, words));
        if (words && table->columns[c].align == TT_ALIGN_RIGHT) {
            element(out, " data-th=\"", table->columns[c].heading, "\"");
        }
        element(out, ">", tt_table_text(table, i), "</td>");
    }
    fputs("</tr>\n</table>\n</div>\n", out);
}

void tt_html_card(struct tt_html *page, const char *caption, const struct tt_html_fact *facts,
                  size_t n)
{
    FILE *out = page->file.out;

    tt_html_heading(page, caption);
    fputs("<dl>\n", out);
    for (size_t i = 0; i < n; i++) {
        element(out, "<dt>", facts[i].name, "</dt>");
        element(out, "<dd>", facts[i].value, "</dd>\n");
    }
    fputs("</dl>\n", out);
}

void tt_html_row_begin(struct tt_html *page)
{
    fputs("<div class=\"row\">\n", page->file.out);
}

void tt_html_row_end(struct tt_html *page)
{
    fputs("</div>\n", page->file.out);
}

void tt_html_svg_begin(struct tt_html *page, int width, int height, const char *caption,
                       const char *description)
{
    FILE *out = page->file.out;
    unsigned id = ++page->figures;

    element(out, "<figure>\n<figcaption>", caption, "</figcaption>\n");
    fprintf(out,
            "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t%u\" "
            "aria-describedby=\"d%u\">\n<title id=\"t%u\">",
            width, height, id, id, id);
    element(out, "", caption, "</title>");
    fprintf(out, "<desc id=\"d%u\">", id);
    element(out, "", description, "</desc>\n");
}

void tt_html_svg_end(struct tt_html *page)
{
    fputs("</svg>\n</figure>\n", page->file.out);
}
