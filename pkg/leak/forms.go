package leak

import (
	"bytes"
	"regexp"
	"slices"
)

// The forms of credentials that are found though no provider told of them.
const (
	unknownKey   = "a private key that no provider told of"
	unknownToken = "a JSON Web Token that no provider told of" //nolint:gosec // G101: it describes a credential.
	unknownLogin = "an Authorization header of which no provider told"
)

// webToken is a JSON Web Token with its signature.
var webToken = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}`)

// forms finds credentials by what they look like, from word to word.
type forms struct {
	count int
	// The counts of the last words that said BEGIN, END and PRIVATE, where a PEM block
	// can begin or end, and that named the header and its scheme.
	beginning, ending, private, header int
	// token is where a token begins if the scheme of the header was read last; it stands
	// right behind the scheme.
	token int64
	// begin is the word with BEGIN.
	begin span
	pem   block
}

// block is a private key in PEM that has begun.
type block struct {
	open bool
	found
	// body counts the words that are its content, and strange those since the last one.
	body, strange int
}

// take looks at a word, which a byte has ended.
func (f *forms) take(w *word, by byte) (all []found) {
	f.count++
	text := w.text
	whole := func(what string) found {
		return found{begin: w.begin, end: w.end(), line: w.line, lastLine: w.line, what: what}
	}
	switch {
	case f.token > 0 && f.token == w.begin && len(text) >= leastToken:
		all = append(all, whole(unknownLogin))
	case bytes.EqualFold(text, []byte("Authorization")) && bytes.IndexByte([]byte(`:="'\`), by) >= 0:
		f.header = f.count
	case f.header > 0 && f.header == f.count-1 && (bytes.EqualFold(text, []byte("Bearer")) || bytes.EqualFold(text, []byte("Basic"))) && bytes.IndexByte([]byte(" \t%"), by) >= 0:
		f.token = w.end() + 1
	}
	if bytes.Contains(text, []byte("eyJ")) && webToken.Match(text) {
		all = append(all, whole(unknownToken))
	}
	return append(all, f.block(w)...)
}

// block follows the PEM blocks of private keys. What stands before PRIVATE KEY may be
// the kind of key, in a word.
func (f *forms) block(w *word) []found {
	text := w.text
	isKey := f.private > 0 && f.private == f.count-1 && bytes.HasPrefix(text, []byte("KEY-----"))
	switch {
	case isKey && f.pem.open && f.ending > f.beginning:
		f.pem.end, f.pem.lastLine = w.end(), w.line
		f.pem.body++ // short as it may be
		return f.end()
	case isKey && f.beginning > f.ending:
		all := f.end()
		f.pem = block{open: true, found: found{begin: f.begin.begin, end: w.end(), line: f.begin.line, lastLine: w.line, what: unknownKey}}
		if len(text) > len("KEY-----")+leastKeyLine {
			f.pem.body++ // all of it is in one word
		}
		if bytes.HasSuffix(text, []byte("-----END")) {
			f.ending = f.count
		}
		return all
	case bytes.HasSuffix(text, []byte("-----BEGIN")):
		f.beginning, f.begin = f.count, span{w.begin, w.end(), w.line}
	case bytes.HasSuffix(text, []byte("-----END")):
		f.ending = f.count
	case string(text) == "PRIVATE" && f.count-max(f.beginning, f.ending) <= 2:
		f.private = f.count
	}
	if !f.pem.open {
		return nil
	}
	if len(text) >= leastKeyLine && !slices.ContainsFunc(text, func(b byte) bool { return coded[b] != b }) {
		f.pem.body++
		f.pem.strange = 0
		f.pem.end, f.pem.lastLine = w.end(), w.line
		return nil
	}
	if f.pem.strange++; f.pem.strange > strangers {
		return f.end()
	}
	return nil
}

// end gives the block that has begun, unless nothing but its first line was there, and
// forgets it.
func (f *forms) end() []found {
	last := f.pem
	f.pem = block{}
	if !last.open || last.body == 0 {
		return nil
	}
	return []found{last.found}
}
