package leak

// inWords are the characters that words are made of: those of tokens. No separator is
// among them that stands before a token, such as the equals sign.
var inWords = func() (table [256]bool) {
	for b := range table {
		table[b] = coded[b] != 0 || b == '.' || b == '~'
	}
	return table
}()

// word is the word under way.
type word struct {
	begin int64
	line  int
	size  int
	// text is the word, as far as wordReach goes.
	text []byte
}

func (w *word) add(b byte, at int64, line int) {
	if w.size == 0 {
		w.begin, w.line = at, line
	}
	w.size++
	if len(w.text) < wordReach {
		w.text = append(w.text, b)
	}
}

func (w *word) end() int64 { return w.begin + int64(w.size) }

func (w *word) reset() { w.size, w.text = 0, w.text[:0] }

// span is where a word was.
type span struct {
	begin, end int64
	line       int
}

// recent are the last words.
type recent struct {
	spans [recentWords]span
	count int
}

func (r *recent) push(one span) {
	r.spans[r.count%recentWords] = one
	r.count++
}

// with gives the word that has the byte.
func (r *recent) with(at int64) (span, bool) {
	for i := r.count - 1; i >= max(0, r.count-recentWords); i-- {
		one := r.spans[i%recentWords]
		if one.end <= at {
			break
		}
		if one.begin <= at {
			return one, true
		}
	}
	return span{}, false
}
