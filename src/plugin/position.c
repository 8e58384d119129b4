/*
 * See position.h.
 */
#include "plugin/position.h"

#include <errno.h>
#include <stdatomic.h>

/* From ALSA's pointer b to a, the shorter way around the boundary. */
static int64_t distance(const struct tactus *tactus, snd_pcm_uframes_t a, snd_pcm_uframes_t b)
{
    int64_t frames = (int64_t)a - (int64_t)b;

    if (frames > tactus->boundary / 2) {
        return frames - tactus->boundary;
    }
    return frames < -(tactus->boundary / 2) ? frames + tactus->boundary : frames;
}

static int64_t program_frame(const struct tactus *tactus)
{
    return tactus->hw_frame + distance(tactus, tactus->io.appl_ptr, tactus->io.hw_ptr);
}

static void fill_with_silence(struct tactus *tactus, int64_t frame)
{
    int64_t frames = frame - tactus->written_frame;

    if (!tactus->engine.talk || frames <= 0) {
        return;
    }
    if (frames > tactus->engine.buffer_frames) {
        frames = tactus->engine.buffer_frames;
    }
    for (unsigned c = 0; c < tactus->io.channels; c++) {
        tactus->areas[c] = (struct tt_pcm_area){.first = tactus->silence, .step_bytes = 0};
    }
    tt_talk_write(tactus->engine.talk, frame - frames, tactus->format, tactus->areas,
                  (size_t)frames);
    tactus->written_frame = frame;
}

void tt_position_follow(struct tactus *tactus)
{
    int64_t frame = program_frame(tactus);

    if (frame < 0) {
        return; /* rewound beyond the stream's begin, which ALSA does not hinder */
    }
    fill_with_silence(tactus, frame);
    if (frame != atomic_load(&tactus->engine.device->program_frame)) {
        atomic_store_explicit(&tactus->engine.device->program_frame, frame, memory_order_release);
    }
}

void tt_position_prepare(struct tactus *tactus)
{
    tactus->hw_frame = atomic_load(&tactus->engine.device->engine_frame);
    tactus->written_frame = tactus->hw_frame;
}

snd_pcm_uframes_t tt_position_advance(struct tactus *tactus)
{
    int64_t frame =
        atomic_load_explicit(&tactus->engine.device->engine_frame, memory_order_acquire);
    int64_t pointer = ((int64_t)tactus->io.hw_ptr + frame - tactus->hw_frame) % tactus->boundary;

    tactus->hw_frame = frame;
    return (snd_pcm_uframes_t)pointer;
}

int64_t tt_position_available(const struct tactus *tactus)
{
    int64_t engine =
        atomic_load_explicit(&tactus->engine.device->engine_frame, memory_order_acquire);
    int64_t lead = engine - program_frame(tactus);

    return tactus->engine.talk ? lead + tactus->engine.buffer_frames : lead;
}

static void set_areas(struct tactus *tactus, const snd_pcm_channel_area_t *areas,
                      snd_pcm_uframes_t offset)
{
    for (unsigned c = 0; c < tactus->io.channels; c++) {
        tactus->areas[c] = (struct tt_pcm_area){
            .first = (uint8_t *)areas[c].addr + (areas[c].first + areas[c].step * offset) / 8,
            .step_bytes = areas[c].step / 8,
        };
    }
}

int tt_position_transfer(struct tactus *tactus, const snd_pcm_channel_area_t *areas,
                         snd_pcm_uframes_t offset, snd_pcm_uframes_t frames)
{
    int64_t frame = program_frame(tactus);
    int64_t end = frame + (int64_t)frames;

    if (frame < 0) {
        return -EINVAL;
    }
    fill_with_silence(tactus, frame);
    set_areas(tactus, areas, offset);
    if (!tactus->engine.talk) {
        tt_listen_read(tactus->engine.listen, frame, tactus->format, tactus->areas, frames);
        return 0;
    }
    tt_talk_write(tactus->engine.talk, frame, tactus->format, tactus->areas, frames);
    tactus->written_frame = end > tactus->written_frame ? end : tactus->written_frame;
    return 0;
}
