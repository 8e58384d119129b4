/*
 * See gate_picture.h.
 */
#include "cli/gate_picture.h"

#include <inttypes.h>

#include "base/attr.h"
#include "base/min_max.h"
#include "gate/lint.h"

enum { WIDTH = 640, LEFT = 90, ROW = 34, TOP = 56, TICKS = 4, FOOT = 34, RIGHT = 36, LEGEND = 30 };

static const char legend[] = "Green: the gate is open. Blue: a frame; red: one that was on the "
                             "wire while it was closed.";

void tt_gate_picture_take(void *picture, const struct tt_sim_frame *frame)
{
    struct tt_gate_picture *p = picture;

    if (frame->port == p->port && frame->end_ns > p->from_ns &&
        frame->start_ns < p->from_ns + p->length_ns && p->frame_count < TT_GATE_PICTURE_FRAMES) {
        p->frames[p->frame_count++] = *frame;
    }
}

static double x_of(const struct tt_gate_picture *p, int64_t ns)
{
    int64_t inside = tt_max64(0, tt_min64(ns - p->from_ns, p->length_ns));

    return LEFT + (double)inside * (WIDTH - LEFT - RIGHT) / (double)p->length_ns;
}

static unsigned row_count(const struct tt_gate_picture *p)
{
    unsigned n = p->network->ports[p->port].class_count;

    return n > 0 ? n : 1;
}

/* The highest class on top. */
static int y_of(const struct tt_gate_picture *p, unsigned class)
{
    return TOP + ((int)row_count(p) - 1 - (int)class) * ROW;
}

static int height_of(const struct tt_gate_picture *p)
{
    return TOP + (int)row_count(p) * ROW + FOOT;
}

static void write_style(FILE *out)
{
    fputs("<style>\n"
          ".gates { --back: #fff; --ink: #222; --open: #bfe3c6; --closed: #eee; --frame: #2563a8; "
          "--late: #c2352b }\n"
          "@media (prefers-color-scheme: dark) { .gates { --back: #181a1d; --ink: #ddd; "
          "--open: #24512f; --closed: #2a2c30; --frame: #7db1ea; --late: #ff7a6d } }\n"
          ".gates text { fill: var(--ink); font-size: 13px } .gates .open { fill: var(--open) } "
          ".gates .closed { fill: var(--closed) } .gates .back { fill: var(--back) }\n"
          ".gates .frame { fill: var(--frame); stroke: var(--back); stroke-width: .5 } "
          ".gates .late { fill: var(--late) }\n"
          ".gates line { stroke: var(--ink); stroke-width: .5; opacity: .5 }\n"
          "@media (max-width: 30rem) { .gates text { font-size: 20px } }\n"
          "</style>\n",
          out);
}

static void write_gates(const struct tt_gate_picture *p, unsigned class, FILE *out)
{
    const struct tt_gate_list *list = p->network->ports[p->port].list;
    int64_t end_ns = p->from_ns + p->length_ns;
    struct tt_gate_window window = {p->from_ns, end_ns};

    fprintf(out, "<text x=\"12\" y=\"%d\">class %u</text>\n", y_of(p, class) + 19, class);
    fprintf(out, "<rect class=\"closed\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT,
            y_of(p, class), WIDTH - LEFT - RIGHT, ROW - 6);
    for (int64_t at_ns = p->from_ns; at_ns < end_ns; at_ns = window.close_ns) {
        double x;

        if (list &&
            (!tt_gate_window(&p->timeline, class, at_ns, &window) || window.open_ns >= end_ns)) {
            break;
        }
        x = x_of(p, tt_max64(window.open_ns, p->from_ns));
        fprintf(out, "<rect class=\"open\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n", x,
                y_of(p, class), x_of(p, tt_min64(window.close_ns, end_ns)) - x, ROW - 6);
    }
}

static void write_frames(const struct tt_gate_picture *p, FILE *out)
{
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct tt_sim_frame *frame = &p->frames[i];
        double x = x_of(p, frame->start_ns);

        fprintf(out,
                "<rect class=\"frame%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"><title>",
                frame->end_ns > frame->close_ns ? " late" : "", x, y_of(p, frame->class) + 6,
                x_of(p, frame->end_ns) - x, ROW - 18);
        tt_html_text(out, p->network->flows[frame->flow].name);
        fprintf(out, ", %s%s</title></rect>\n", tt_gate_us(frame->end_ns - frame->start_ns).text,
                frame->end_ns > frame->close_ns ? ", while its gate was closed" : "");
    }
}

static void write_axis(const struct tt_gate_picture *p, FILE *out)
{
    int bottom = TOP + (int)row_count(p) * ROW;

    for (int i = 0; i <= TICKS; i++) {
        int64_t ns = p->length_ns / TICKS * i;
        double x = x_of(p, p->from_ns + ns);

        fprintf(out,
                "<line x1=\"%.2f\" x2=\"%.2f\" y1=\"%d\" y2=\"%d\"/>"
                "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>\n",
                x, x, TOP - 6, bottom + 4, x, bottom + 20, (double)ns / 1000);
    }
}

/* What is inside of the SVG. */
static void write_inside(const struct tt_gate_picture *p, FILE *out, int height)
{
    fputs("<g class=\"gates\">\n", out);
    write_style(out);
    fprintf(out, "<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", WIDTH, height);
    fputs("<text x=\"12\" y=\"24\">", out);
    tt_html_text(out, p->network->ports[p->port].name);
    fputs(": gates, and frames on the wire; us</text>\n", out);
    for (unsigned c = 0; c < row_count(p); c++) {
        write_gates(p, c, out);
    }
    write_frames(p, out);
    write_axis(p, out);
    fputs("</g>\n", out);
}

int tt_gate_picture_write(const struct tt_gate_picture *picture, const char *path)
{
    struct tt_whole_file file;
    int error = tt_whole_file_open(&file, path);

    if (error != 0) {
        return error;
    }
    fprintf(file.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\">\n",
            WIDTH, height_of(picture) + LEGEND);
    write_inside(picture, file.out, height_of(picture) + LEGEND);
    fprintf(file.out, "<g class=\"gates\"><text x=\"12\" y=\"%d\">%s</text></g>\n",
            height_of(picture) + LEGEND / 2, legend);
    fputs("</svg>\n", file.out);
    return tt_whole_file_close(&file);
}

void tt_gate_picture_figure(const struct tt_gate_picture *picture, struct tt_html *page,
                            const char *caption)
{
    tt_html_svg_begin(page, WIDTH, height_of(picture), caption,
                      "Classes as rows, time to the right: where the gate is open, and frames.");
    write_inside(picture, page->file.out, height_of(picture));
    tt_html_svg_end(page);
    tt_html_paragraph(page, "%s", legend);
}
