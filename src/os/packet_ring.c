/*
 * See packet_ring.h.
 */
#include "os/packet_ring.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/ns.h"

#define BLOCK_BYTES_MIN 65536
#define SLOTS_MIN       128
static int set_int(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static size_t aligned(size_t bytes)
{
    return (bytes + TPACKET_ALIGNMENT - 1) / TPACKET_ALIGNMENT * TPACKET_ALIGNMENT;
}

/* A slot holds the header with the link-layer address, the start of the network header aligned
 * behind 16 bytes for the Ethernet header, and the packet. */
static size_t slot_bytes_for(size_t packet_bytes)
{
    size_t header_bytes = aligned(sizeof(struct tpacket2_hdr)) + sizeof(struct sockaddr_ll);

    return aligned(aligned(header_bytes + 16) + packet_bytes);
}

static int request_ring(int fd, struct tt_packet_ring *ring, size_t blocks)
{
    struct tpacket_req request = {
        .tp_block_size = (unsigned)ring->block_bytes,
        .tp_block_nr = (unsigned)blocks,
        .tp_frame_size = (unsigned)ring->slot_bytes,
        .tp_frame_nr = (unsigned)(blocks * ring->slots_per_block),
    };

    ring->slots = request.tp_frame_nr;
    ring->memory_bytes = blocks * ring->block_bytes;
    return setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) < 0 ? -errno : 0;
}

int tt_packet_ring_open(int fd, size_t packet_bytes, size_t buffer_bytes,
                        struct tt_packet_ring *ret_ring)
{
    struct tt_packet_ring ring = {.slot_bytes = slot_bytes_for(packet_bytes),
                                  .block_bytes = BLOCK_BYTES_MIN};
    size_t blocks;
    void *memory;
    int rc;

    while (ring.block_bytes < ring.slot_bytes) {
        ring.block_bytes *= 2;
    }
    ring.slots_per_block = ring.block_bytes / ring.slot_bytes;
    if (buffer_bytes < SLOTS_MIN * ring.slot_bytes) {
        buffer_bytes = SLOTS_MIN * ring.slot_bytes;
    }
    rc = set_int(fd, SOL_PACKET, PACKET_VERSION, TPACKET_V2);
    if (rc == 0) {
        rc = set_int(fd, SOL_PACKET, PACKET_TIMESTAMP, SOF_TIMESTAMPING_SOFTWARE);
    }
    if (rc < 0) {
        return rc;
    }
    blocks = (buffer_bytes + ring.block_bytes - 1) / ring.block_bytes;
    rc = request_ring(fd, &ring, blocks);
    while (rc == -ENOMEM && blocks > 1) {
        blocks /= 2;
        rc = request_ring(fd, &ring, blocks);
    }
    if (rc < 0) {
        return rc;
    }
    memory = mmap(NULL, ring.memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    ring.memory = memory;
    *ret_ring = ring;
    return 0;
}

void tt_packet_ring_close(struct tt_packet_ring *ring)
{
    if (ring->memory) {
        munmap(ring->memory, ring->memory_bytes);
    }
    ring->memory = NULL;
}

/* Slots do not cross blocks. */
static struct tpacket2_hdr *slot_of(const struct tt_packet_ring *ring)
{
    size_t block = ring->at / ring->slots_per_block;
    size_t slot = ring->at % ring->slots_per_block;

    return (struct tpacket2_hdr *)(void *)(ring->memory + block * ring->block_bytes +
                                           slot * ring->slot_bytes);
}

bool tt_packet_ring_take(struct tt_packet_ring *ring, struct tt_link_packet *packet)
{
    struct tpacket2_hdr *header;
    uint32_t status;
    size_t bytes;

    if (!ring->memory) {
        return false;
    }
    header = slot_of(ring);
    status = __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE);
    if (!(status & TP_STATUS_USER)) {
        return false;
    }
    bytes = header->tp_snaplen < packet->bytes ? header->tp_snaplen : packet->bytes;
    memcpy(packet->data, (const uint8_t *)header + header->tp_mac, bytes);
    packet->bytes = header->tp_len;
    packet->time_tai_ns = (int64_t)header->tp_sec * TT_NS_PER_S + header->tp_nsec;
    packet->vlan_id = status & TP_STATUS_VLAN_VALID ? header->tp_vlan_tci & 0xFFF : -1;
    packet->pcp = status & TP_STATUS_VLAN_VALID ? header->tp_vlan_tci >> 13 : -1;
    ring->losing |= (status & TP_STATUS_LOSING) != 0;
    __atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    ring->at = ring->at + 1 == ring->slots ? 0 : ring->at + 1;
    return true;
}
