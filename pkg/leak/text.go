package leak

import (
	"bufio"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Masker masks credentials in texts before they are written anywhere. It may be used by
// several goroutines at once.
type Masker struct{ pieces *pieces }

// NewMasker makes one that knows the credentials. It masks the forms of others, too.
func NewMasker(credentials []credential.Credential) *Masker { return &Masker{newPieces(credentials)} }

// Mask gives the text with what was found in it masked, and with as many lines as it has.
// If that does not rid it of all credentials, all that is left is the Mask.
func (m *Masker) Mask(text string) string {
	places := m.search(text)
	if len(places) == 0 {
		return text
	}
	var masked strings.Builder
	if maskBytes(&masked, bufio.NewReader(strings.NewReader(text)), places) != nil || len(m.search(masked.String())) > 0 {
		return Mask
	}
	return masked.String()
}

func (m *Masker) search(text string) []place {
	f := newFinder(m.pieces)
	_, _ = f.Write([]byte(text))
	return f.places()
}
