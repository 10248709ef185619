package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/credential"
)

// pieces are all that credentials are looked for by: as they are in a file, and in what
// is left of a file when only the characters of base64 are kept.
type pieces struct {
	plain, coded index
	// names are what pieces are of.
	names []name
}

// name is what a piece is of, and told whether that is a credential, not only a form.
type name struct {
	what string
	told bool
}

func newPieces(credentials []credential.Credential) *pieces {
	p := &pieces{plain: newIndex(), coded: newIndex()}
	of := p.name(unknownKey, false)
	for shift := range 3 {
		p.coded.add(inner(shift, []byte("PRIVATE KEY-----")), of)
	}
	for _, one := range credentials {
		if !Searchable(one) {
			continue
		}
		of := p.name(one.What(), true)
		if pem, der, from, to, ok := one.Key(); ok {
			p.addKey(of, pem, der, from, to)
		} else {
			text, _ := one.Text()
			p.addText(of, text)
		}
	}
	return p
}

func (p *pieces) name(what string, told bool) int {
	p.names = append(p.names, name{what, told})
	return len(p.names) - 1
}

func (p *pieces) addKey(of int, pem, der []byte, from, to int) {
	secret := der[from:to]
	addWindows(&p.plain, of, secret)
	addHex(&p.coded, of, secret)
	for shift := range 3 {
		addWindows(&p.coded, of, inner(shift, secret))
	}
	// The PEM in base64, as in a kubeconfig, and such a file in base64.
	written := writtenPart(pem, len(der), from, to)
	addHex(&p.coded, of, written)
	for shift := range 3 {
		once := inner(shift, written)
		addWindows(&p.coded, of, once)
		for again := range 3 {
			addWindows(&p.coded, of, inner(again, once))
		}
	}
}

// writtenPart is the part of a PEM block that the secret part of its content is in,
// with its line breaks; all of it if the block is not as the library writes it.
func writtenPart(pem []byte, size, from, to int) []byte {
	begin := bytes.IndexByte(pem, '\n') + 1
	const line = 64
	at := func(char int) int { return begin + char + char/line }
	first, last := (from*8+5)/6, to*8/6
	headers := bytes.Contains(pem, []byte(": "))
	if end := at(base64.StdEncoding.EncodedLen(size)); headers || first >= last || end > len(pem) {
		return pem
	}
	return pem[at(first):at(last)]
}

func (p *pieces) addText(of int, text []byte) {
	if parts := bytes.Split(text, []byte(".")); len(parts) == 3 && bytes.HasPrefix(text, []byte("eyJ")) && len(parts[2]) >= window {
		// Of a JSON Web Token only the signature is not the same in others.
		text = parts[2]
	}
	for _, written := range escaped(string(text)) {
		addWhole(&p.plain, of, []byte(written))
	}
	if len(text) >= window && onlyCoded(text) {
		addWhole(&p.coded, of, normalized(text)) // where it is cut into lines
	}
	addHex(&p.coded, of, text)
	for shift := range 3 {
		once := inner(shift, text)
		addWhole(&p.coded, of, once)
		for again := range 3 {
			addWhole(&p.coded, of, inner(again, once))
		}
	}
}

// escaped are the ways in which a text is written in JSON and in URLs, the text itself
// among them.
func escaped(text string) []string {
	all := []string{text, url.QueryEscape(text), url.PathEscape(text)}
	for _, html := range []bool{false, true} {
		var written strings.Builder
		encoder := json.NewEncoder(&written)
		encoder.SetEscapeHTML(html)
		if err := encoder.Encode(text); err == nil {
			all = append(all, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(written.String()), `"`), `"`))
		}
	}
	return all
}

// inner are the characters in base64 that follow from the bytes alone, where so many
// bytes of a group of three come before them.
func inner(before int, of []byte) []byte {
	padded := append(make([]byte, before, before+len(of)), of...)
	encoded := base64.RawStdEncoding.EncodeToString(padded)
	first, last := (before*8+5)/6, len(padded)*8/6
	return []byte(encoded[first:max(first, last)])
}

func addHex(into *index, of int, content []byte) {
	low := hex.EncodeToString(content)
	addWindows(into, of, []byte(low))
	addWindows(into, of, []byte(strings.ToUpper(low)))
}

// addWhole adds a text as one piece, or as windows where it is too long for that.
func addWhole(into *index, of int, text []byte) {
	if len(text) > longest {
		addWindows(into, of, text)
		return
	}
	into.add(text, of)
}

// addWindows adds pieces of a text, of which its first and its last bytes always are
// one: what is there as a whole is found as a whole.
func addWindows(into *index, of int, text []byte) {
	step := 1
	if len(text) > fine {
		step = window
	}
	at := 0
	for ; at+window < len(text); at += step {
		into.add(text[at:at+window], of)
	}
	into.add(text[max(0, len(text)-window):], of)
}

// coded maps each character that base64 and hexadecimal have to itself, those of the
// form for URLs to those of the other, and everything else to 0.
var coded = func() (table [256]byte) {
	for _, b := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		table[b] = b
	}
	table['-'], table['_'] = '+', '/'
	return table
}()

func onlyCoded(text []byte) bool {
	return !slices.ContainsFunc(text, func(b byte) bool { return coded[b] == 0 })
}

func normalized(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, b := range text {
		if c := coded[b]; c != 0 {
			out = append(out, c)
		}
	}
	return out
}
