// Package credential is what opens a cluster: private keys, tokens and passwords. It
// is made so that none of them is printed by accident: of a Credential every way of
// formatting shows only what it is.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package credential

import (
	"bytes"
	"fmt"
	"strings"
)

// Credential is one thing that opens a cluster. The zero value is none.
type Credential struct {
	what string
	// written is the credential as it is written down: PEM, or the text of a token.
	written []byte
	// der is the content of a private key's PEM, of which only the bytes from to to are
	// secret: the rest is its form and the public key, which certificates have too.
	der      []byte
	from, to int
}

// What it is, in words, such as "the private key cp1-etcd.key".
func (c Credential) What() string { return c.what }

// Text is a token or password; ok is false for a private key.
func (c Credential) Text() (text []byte, ok bool) { return c.written, c.der == nil }

// Key is a private key: its PEM, the DER in that, and the part of the DER that only
// its owner knows. ok is false where it is none.
func (c Credential) Key() (pem, der []byte, from, to int, ok bool) {
	return c.written, c.der, c.from, c.to, c.der != nil
}

// Same is whether both open the same, whatever they are called.
func (c Credential) Same(other Credential) bool { return bytes.Equal(c.secret(), other.secret()) }

// secret is what only the owner knows.
func (c Credential) secret() []byte {
	if c.der != nil {
		return c.der[c.from:c.to]
	}
	return c.written
}

// String is What.
func (c Credential) String() string { return c.what }

// Format shows What, whatever the verb.
func (c Credential) Format(into fmt.State, _ rune) { fmt.Fprint(into, c.what) }

// Token is a credential that is a text: a token or a password. Spaces around it do not
// count, as in the files that tokens are read from.
func Token(what, text string) Credential {
	return Credential{what: what, written: []byte(strings.TrimSpace(text))}
}

// Merge adds those of more that all does not have yet, and leaves out those that are
// empty.
func Merge(all []Credential, more ...Credential) []Credential {
	known := make(map[string]bool, len(all)+len(more))
	for _, one := range all {
		known[string(one.secret())] = true
	}
	for _, one := range more {
		if secret := string(one.secret()); secret != "" && !known[secret] {
			known[secret] = true
			all = append(all, one)
		}
	}
	return all
}
