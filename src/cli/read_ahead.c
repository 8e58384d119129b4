/*
 * See read_ahead.h. One writer, one reader, a ring of batches; who finds none waits.
 */
#include "cli/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "os/thread.h"

#define BATCHES       4
#define BATCH_PACKETS 1024

struct batch {
    struct tt_packet packets[BATCH_PACKETS];
    size_t count;
    int status; /* after the last packet: 1: more follow; 0: the end */
};

struct tt_read_ahead {
    struct tt_captures *captures;
    size_t snap_bytes;
    uint8_t *bytes; /* of all packets of all batches */
    struct batch batches[BATCHES];
    struct tt_thread thread;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t filled; /* so many batches, ever */
    size_t emptied;
    bool stop;

    size_t at; /* the reader's place in the oldest batch */
};

static void fill(struct tt_read_ahead *ahead, struct batch *batch)
{
    uint8_t *bytes =
        ahead->bytes + (size_t)(batch - ahead->batches) * BATCH_PACKETS * ahead->snap_bytes;

    batch->count = 0;
    do {
        struct tt_packet *packet = &batch->packets[batch->count];

        batch->status = tt_captures_next(ahead->captures, packet);
        if (batch->status != 1) {
            return;
        }
        packet->bytes = packet->bytes < ahead->snap_bytes ? packet->bytes : ahead->snap_bytes;
        memcpy(bytes, packet->frame, packet->bytes);
        packet->frame = bytes;
        bytes += ahead->snap_bytes;
    } while (++batch->count < BATCH_PACKETS);
}

/* The next batch to write, or NULL where nobody wants one. */
static struct batch *wait_for_room(struct tt_read_ahead *ahead)
{
    struct batch *batch = NULL;

    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->stop && ahead->filled - ahead->emptied == BATCHES) {
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    }
    if (!ahead->stop) {
        batch = &ahead->batches[ahead->filled % BATCHES];
    }
    pthread_mutex_unlock(&ahead->mutex);
    return batch;
}

static void count_up(struct tt_read_ahead *ahead, size_t *counter)
{
    pthread_mutex_lock(&ahead->mutex);
    (*counter)++;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
}

static void read_all(void *context)
{
    struct tt_read_ahead *ahead = context;
    struct batch *batch;
    int status = 1;

    while (status == 1 && (batch = wait_for_room(ahead))) {
        fill(ahead, batch);
        status = batch->status;
        count_up(ahead, &ahead->filled);
    }
}

int tt_read_ahead_new(struct tt_captures *captures, size_t snap_bytes,
                      struct tt_read_ahead **ret_ahead)
{
    struct tt_read_ahead *ahead = calloc(1, sizeof(*ahead));
    int error = -ENOMEM;

    if (!ahead) {
        return error;
    }
    ahead->captures = captures;
    ahead->snap_bytes = snap_bytes;
    ahead->bytes = malloc(BATCHES * BATCH_PACKETS * snap_bytes);
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    if (ahead->bytes) {
        error = tt_thread_start_plain(&ahead->thread, read_all, ahead);
    }
    if (error) {
        tt_read_ahead_free(ahead);
        return error;
    }
    *ret_ahead = ahead;
    return 0;
}

static void wait_for_batch(struct tt_read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->filled == ahead->emptied) {
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    }
    pthread_mutex_unlock(&ahead->mutex);
}

int tt_read_ahead_next(struct tt_read_ahead *ahead, struct tt_packet *ret_packet)
{
    struct batch *batch;

    if (ahead->at == BATCH_PACKETS) {
        ahead->at = 0;
        count_up(ahead, &ahead->emptied);
    }
    if (ahead->at == 0) {
        wait_for_batch(ahead);
    }
    batch = &ahead->batches[ahead->emptied % BATCHES];
    if (ahead->at == batch->count) {
        return batch->status;
    }
    *ret_packet = batch->packets[ahead->at++];
    return 1;
}

void tt_read_ahead_free(struct tt_read_ahead *ahead)
{
    if (!ahead) {
        return;
    }
    pthread_mutex_lock(&ahead->mutex);
    ahead->stop = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    tt_thread_join(&ahead->thread);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    free(ahead->bytes);
    free(ahead);
}
