package leak

import (
	"cmp"
	"slices"
)

// found is one place in a file.
type found struct {
	// begin and end are bytes of the file, the first and the one behind the last.
	begin, end int64
	// line and lastLine count from 1.
	line, lastLine int
	what           string
	// told is whether it is a credential that the search was told of.
	told bool
}

// finder finds credentials in what is written to it. It never fails.
type finder struct {
	pieces       *pieces
	plain, coded stream
	at           int64
	line         int
	// escape is whether a backslash was read last.
	escape bool

	word  word
	words recent
	forms forms
	// found are in the order in which they end.
	found []found
}

func newFinder(p *pieces) *finder { return &finder{pieces: p, line: 1} }

// Write implements io.Writer.
func (f *finder) Write(content []byte) (int, error) {
	for _, b := range content {
		f.take(b)
	}
	return len(content), nil
}

func (f *finder) take(b byte) {
	code, part := coded[b], inWords[b]
	switch {
	case b == '\\':
		f.escape = true // also where it is escaped itself, in a text within a text
	case f.escape:
		f.escape = false
		if b == 'n' || b == 'r' || b == 't' {
			code, part = 0, false
		}
	}
	switch {
	case part:
		f.word.add(b, f.at, f.line)
	case f.word.size > 0:
		f.endWord(b)
	}
	f.plain.push(b, f.at, f.line)
	for _, one := range f.pieces.plain.at(f.plain.end) {
		f.compare(&f.plain, one)
	}
	if code != 0 {
		f.coded.push(code, f.at, f.line)
		for _, one := range f.pieces.coded.at(f.coded.end) {
			f.compare(&f.coded, one)
		}
	}
	f.at++
	if b == '\n' {
		f.line++
	}
}

// compare notes that a piece ends here, if it does. What is around it in the words that
// it begins and ends in belongs to it: it may be more of the same.
func (f *finder) compare(s *stream, one piece) {
	at, line, ok := s.endsWith(one.text)
	if !ok {
		return
	}
	name := f.pieces.names[one.of]
	hit := found{begin: at, end: f.at + 1, line: line, lastLine: f.line, what: name.what, told: name.told}
	if f.word.size > 0 && at >= f.word.begin {
		hit.begin, hit.line = f.word.begin, f.word.line
	} else if around, ok := f.words.with(at); ok {
		hit.begin, hit.line = around.begin, around.line
	}
	if n := len(f.found); n > 0 {
		if last := &f.found[n-1]; last.what == hit.what && last.begin <= hit.begin && hit.begin <= last.end {
			last.end, last.lastLine = max(last.end, hit.end), hit.lastLine
			return
		}
	}
	f.found = append(f.found, hit)
}

// endWord looks at a word as a whole, which a byte has ended.
func (f *finder) endWord(by byte) {
	w := &f.word
	for i := len(f.found) - 1; i >= 0 && f.found[i].end > w.begin; i-- {
		f.found[i].end = max(f.found[i].end, w.end())
	}
	f.found = append(f.found, f.forms.take(w, by)...)
	f.words.push(span{w.begin, w.end(), w.line})
	w.reset()
}

// places ends the reading and gives what was found, in the order of the file.
func (f *finder) places() []place {
	if f.word.size > 0 {
		f.endWord(0)
	}
	f.found = append(f.found, f.forms.end()...)
	slices.SortStableFunc(f.found, func(a, b found) int { return cmp.Compare(a.begin, b.begin) })
	var places []place
	for _, one := range f.found {
		if n := len(places); n > 0 && one.begin <= places[n-1].end {
			places[n-1].join(one)
			continue
		}
		places = append(places, place{found: one, whats: []string{one.what}})
	}
	return places
}

// place is what was found of several credentials in one piece of a file.
type place struct {
	found
	// whats are what was found: where a credential is known, its form is not among them.
	whats []string
}

func (p *place) join(one found) {
	p.end, p.lastLine = max(p.end, one.end), max(p.lastLine, one.lastLine)
	switch {
	case one.told && !p.told:
		p.told, p.whats = true, []string{one.what}
	case one.told == p.told && !slices.Contains(p.whats, one.what):
		p.whats = append(p.whats, one.what)
	}
}
