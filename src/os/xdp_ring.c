/*
 * See xdp_ring.h.
 */
#include "os/xdp_ring.h"

#include <errno.h>
#include <linux/if_xdp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define SLOT_SMALL 2048 /* the kernel takes powers of two from here to a page */
#define MASK       (TT_XDP_RING_PACKETS - 1)
/* A call takes some tens of packets, and one more call follows each that is dropped. */
#define CALLS_MAX (2 * TT_LINK_BATCH)

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static int set_option(int fd, int name, const void *value, socklen_t bytes)
{
    return setsockopt(fd, SOL_XDP, name, value, bytes) < 0 ? -errno : 0;
}

static int map(size_t bytes, int flags, int fd, off_t offset, uint8_t **ret_memory)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_POPULATE, fd, offset);

    if (memory == MAP_FAILED) {
        return -errno;
    }
    *ret_memory = memory;
    return 0;
}

static int register_packets(struct tt_xdp_ring *ring)
{
    struct xdp_umem_reg memory = {.len = TT_XDP_RING_PACKETS * ring->packet_bytes,
                                  .chunk_size = (uint32_t)ring->packet_bytes};
    int rc = map(memory.len, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &ring->packets);

    if (rc < 0) {
        return rc;
    }
    memory.addr = (uint64_t)(uintptr_t)ring->packets;
    for (; ring->free_count < TT_XDP_RING_PACKETS; ring->free_count++) {
        ring->free[ring->free_count] = ring->free_count * ring->packet_bytes;
    }
    return set_option(ring->fd, XDP_UMEM_REG, &memory, sizeof(memory));
}

static int make_rings(struct tt_xdp_ring *ring)
{
    /* The kernel wants a ring for receiving as well wherever there is memory. */
    static const int names[] = {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_TX_RING};
    struct xdp_mmap_offsets at;
    socklen_t bytes = sizeof(at);
    int size = TT_XDP_RING_PACKETS;
    int rc = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && rc == 0; i++) {
        rc = set_option(ring->fd, names[i], &size, sizeof(size));
    }
    if (rc == 0 && getsockopt(ring->fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &bytes) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        return rc;
    }
    ring->send_bytes = at.tx.desc + TT_XDP_RING_PACKETS * sizeof(*ring->sends);
    ring->done_bytes = at.cr.desc + TT_XDP_RING_PACKETS * sizeof(*ring->dones);
    rc = map(ring->send_bytes, MAP_SHARED, ring->fd, XDP_PGOFF_TX_RING, &ring->send_memory);
    if (rc == 0) {
        rc = map(ring->done_bytes, MAP_SHARED, ring->fd, XDP_UMEM_PGOFF_COMPLETION_RING,
                 &ring->done_memory);
    }
    if (rc < 0) {
        return rc;
    }
    ring->send_producer = (uint32_t *)(ring->send_memory + at.tx.producer);
    ring->send_consumer = (uint32_t *)(ring->send_memory + at.tx.consumer);
    ring->sends = (struct xdp_desc *)(ring->send_memory + at.tx.desc);
    ring->done_producer = (uint32_t *)(ring->done_memory + at.cr.producer);
    ring->done_consumer = (uint32_t *)(ring->done_memory + at.cr.consumer);
    ring->dones = (uint64_t *)(ring->done_memory + at.cr.desc);
    return 0;
}

int tt_xdp_ring_open(int ifindex, uint32_t queue, size_t packet_bytes, struct tt_xdp_ring *ret_ring)
{
    /* Copy mode is there on every interface, and leaves the driver as it is. */
    struct sockaddr_xdp address = {.sxdp_family = AF_XDP,
                                   .sxdp_flags = XDP_COPY,
                                   .sxdp_ifindex = (uint32_t)ifindex,
                                   .sxdp_queue_id = queue};
    struct tt_xdp_ring *ring = ret_ring;
    int rc;

    *ring = (struct tt_xdp_ring){.packet_bytes =
                                     packet_bytes <= SLOT_SMALL ? SLOT_SMALL : TT_XDP_RING_BYTES};
    ring->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (ring->fd < 0) {
        return -errno;
    }
    rc = register_packets(ring);
    if (rc == 0) {
        rc = make_rings(ring);
    }
    if (rc == 0 && bind(ring->fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        tt_xdp_ring_close(ring);
    }
    return rc;
}

static void unmap(uint8_t *memory, size_t bytes)
{
    if (memory) {
        munmap(memory, bytes);
    }
}

void tt_xdp_ring_close(struct tt_xdp_ring *ring)
{
    unmap(ring->send_memory, ring->send_bytes);
    unmap(ring->done_memory, ring->done_bytes);
    if (ring->fd > 0) {
        close(ring->fd);
    }
    unmap(ring->packets, TT_XDP_RING_PACKETS * ring->packet_bytes);
    *ring = (struct tt_xdp_ring){0};
}

/* The memory of packets that have left is free again. */
static void take_back_done(struct tt_xdp_ring *ring)
{
    uint32_t at = *ring->done_consumer;

    for (uint32_t end = load(ring->done_producer); at != end; at++) {
        ring->free[ring->free_count++] = ring->dones[at & MASK];
    }
    store(ring->done_consumer, at);
}

/* Up to n packets into the ring; returns how many there was room for. */
static int fill(struct tt_xdp_ring *ring, const struct tt_link_packet *packets, int n)
{
    uint32_t at = *ring->send_producer;
    int filled = 0;

    for (; filled < n && ring->free_count > 0; filled++) {
        const struct tt_link_packet *packet = &packets[filled];
        uint64_t address;

        if (packet->bytes > ring->packet_bytes) {
            break;
        }
        address = ring->free[--ring->free_count];
        memcpy(ring->packets + address, packet->data, packet->bytes);
        ring->sends[at++ & MASK] =
            (struct xdp_desc){.addr = address, .len = (uint32_t)packet->bytes};
    }
    store(ring->send_producer, at);
    return filled;
}

/* Has the kernel take all that is in the ring. 0 or -errno. */
static int kick(struct tt_xdp_ring *ring, int *ret_dropped)
{
    uint32_t end = *ring->send_producer;

    *ret_dropped = 0;
    for (int calls = 0; load(ring->send_consumer) != end; calls++) {
        if (calls == CALLS_MAX) {
            return -EAGAIN; /* the driver's own queue has been full all the time */
        }
        if (sendto(ring->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) == 0 || errno == EAGAIN) {
            continue;
        }
        if (errno != EBUSY) {
            return -errno;
        }
        ++*ret_dropped; /* one, by the driver */
    }
    return 0;
}

int tt_xdp_ring_send(struct tt_xdp_ring *ring, const struct tt_link_packet *packets, int n)
{
    int dropped;
    int filled;
    int rc;

    if (ring->dropped > 0) {
        ring->dropped--;
        return -ENOBUFS;
    }
    take_back_done(ring);
    filled = fill(ring, packets, n);
    if (filled == 0) {
        return packets[0].bytes > ring->packet_bytes ? -EMSGSIZE : -ENOBUFS;
    }
    rc = kick(ring, &dropped);
    if (rc < 0) {
        tt_xdp_ring_close(ring);
        return rc;
    }
    ring->dropped = dropped > 0 ? dropped - 1 : 0;
    return dropped < filled ? filled - dropped : -ENOBUFS;
}
