package discovery

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
)

// pack is content in gzip, compressed in blocks that each know the bytes before
// them and nothing else: after a change most blocks are still the same.
// Compressing all of three megabytes again would take longer than the rest of a
// change. The bytes depend on the content alone, not on earlier packs.
type pack struct {
	content []byte
	bytes   []byte
	// blocks by the name of the group that each begins with.
	blocks map[string]block
}

// block is a part of the content, from one offset to another, and what became of
// it.
type block struct {
	from, to int
	deflated []byte
}

const (
	// blockLeast is the least size of a block: the shorter it is, the more weighs
	// that compressing it begins with reading the window before it.
	blockLeast = 64 << 10
	// window is how far back compressed bytes may refer (RFC 1951, section 3.2.5).
	window = 32 << 10
	// cutEvery is how many groups have one among them that a block may begin with.
	cutEvery = 4
)

// The frame of gzip (RFC 1952): no name, no time, any system.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// lastBlock ends deflated data: an empty block that says to be the last.
var lastBlock = []byte{1, 0, 0, 0xff, 0xff}

// packFrom compresses content that consists of groups. Blocks that are the same
// as in an earlier pack are taken from there; it may be nil.
func packFrom(before *pack, content []byte, starts []groupStart) (*pack, error) {
	p := &pack{content: content, blocks: map[string]block{}}
	p.bytes = append(p.bytes, gzipHeader...)
	cuts := cutsOf(starts, len(content))
	for i, cut := range cuts {
		b := block{from: cut.offset, to: len(content)}
		if i+1 < len(cuts) {
			b.to = cuts[i+1].offset
		}
		if old, ok := before.same(cut.name, content, b); ok {
			b.deflated = old
		} else {
			var err error
			if b.deflated, err = deflate(content[max(0, b.from-window):b.from], content[b.from:b.to]); err != nil {
				return nil, err
			}
		}
		p.blocks[cut.name] = b
		p.bytes = append(p.bytes, b.deflated...)
	}
	p.bytes = append(p.bytes, lastBlock...)
	p.bytes = binary.LittleEndian.AppendUint32(p.bytes, crc32.ChecksumIEEE(content))
	//nolint:gosec // G115: RFC 1952 has the length modulo 2^32.
	p.bytes = binary.LittleEndian.AppendUint32(p.bytes, uint32(len(content)))
	return p, nil
}

// cutsOf chooses where blocks begin, by the names of groups, so that a group
// that comes or goes moves the cuts around it and none far away.
func cutsOf(starts []groupStart, length int) []groupStart {
	cuts := []groupStart{{}}
	for _, start := range starts {
		if start.offset-cuts[len(cuts)-1].offset >= blockLeast && length-start.offset >= blockLeast && mayCut(start.name) {
			cuts = append(cuts, start)
		}
	}
	return cuts
}

func mayCut(name string) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return sum.Sum32()%cutEvery == 0
}

// same gives the compressed block of a name if it and the window before it are
// those of other content.
func (p *pack) same(name string, content []byte, b block) ([]byte, bool) {
	if p == nil {
		return nil, false
	}
	old, ok := p.blocks[name]
	if !ok || min(old.from, window) != min(b.from, window) {
		return nil, false
	}
	return old.deflated, bytes.Equal(p.content[max(0, old.from-window):old.to], content[max(0, b.from-window):b.to])
}

// deflate compresses a block that comes after some other bytes, and ends at a
// whole byte.
func deflate(before, content []byte) ([]byte, error) {
	var out bytes.Buffer
	writer, err := flate.NewWriterDict(&out, flate.DefaultCompression, before)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(content); err != nil {
		return nil, err
	}
	if err := writer.Flush(); err != nil {
		return nil, err
	}
	return bytes.Clone(out.Bytes()), nil
}
