package leak

// index finds pieces by their last bytes. Most of what is read ends in none of them,
// which a small table tells before the map is asked.
type index struct {
	table []uint64
	ends  map[uint64][]piece
}

// piece is what a credential is looked for by.
type piece struct {
	text string
	of   int
}

// tableBits is how many bits a number has that tells a place in the table.
const tableBits = 20

func newIndex() index {
	return index{table: make([]uint64, 1<<(tableBits-6)), ends: map[uint64][]piece{}}
}

// spread gives a tail its bit of the table: a multiplication spreads them.
func spread(end uint64) (word int, bit uint64) {
	const factor = 0x9E3779B97F4A7C15
	at := end * factor >> (64 - tableBits)
	return int(at >> 6), 1 << (at & 63)
}

// add has a text found; one that is too short for that is left out.
func (x *index) add(text []byte, of int) {
	if len(text) < tail {
		return
	}
	var end uint64
	for _, b := range text[len(text)-tail:] {
		end = end<<8 | uint64(b)
	}
	for _, known := range x.ends[end] {
		if known.text == string(text) {
			return
		}
	}
	x.ends[end] = append(x.ends[end], piece{string(text), of})
	word, bit := spread(end)
	x.table[word] |= bit
}

// at gives the pieces that may end with these bytes.
func (x *index) at(end uint64) []piece {
	if word, bit := spread(end); x.table[word]&bit == 0 {
		return nil
	}
	return x.ends[end]
}

// ringSize is how much of a stream is kept, a power of two that no piece is longer than.
const ringSize = 2 * longest

// stream is the end of what was read, and where each of its bytes was.
type stream struct {
	bytes [ringSize]byte
	at    [ringSize]int64
	lines [ringSize]int
	count int
	end   uint64
}

func (s *stream) push(b byte, at int64, line int) {
	i := s.count & (ringSize - 1)
	s.bytes[i], s.at[i], s.lines[i] = b, at, line
	s.count++
	s.end = s.end<<8 | uint64(b)
}

// endsWith is whether the text was read last, and where that began.
func (s *stream) endsWith(text string) (at int64, line int, ok bool) {
	if s.count < len(text) {
		return 0, 0, false
	}
	first := s.count - len(text)
	for i := range len(text) {
		if s.bytes[(first+i)&(ringSize-1)] != text[i] {
			return 0, 0, false
		}
	}
	i := first & (ringSize - 1)
	return s.at[i], s.lines[i], true
}
