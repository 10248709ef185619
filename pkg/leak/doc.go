// Package leak searches the files of a bundle for credentials, and masks what it finds.
//
// # What is found
//
// Of each credential that it is told of, the secret part is looked for as it is, in
// base64 at whatever place of a longer text, in hexadecimal, and in base64 of the PEM
// block that it is written in, as kubeconfigs have it, also when such a file was put
// into base64 as a whole. Line breaks, spaces, separators and the \n of JSON do not
// keep it from being found, nor that only a piece is there: of a private key any run of
// window characters (and twice that of a long one) is enough. The public part of a
// private key is not looked for, since certificates have it too.
//
// Of what no provider told of, these forms are found: a private key in PEM, and that in
// base64; a JSON Web Token; and what follows "Authorization: Bearer" or "Basic".
//
// What is encrypted, compressed inside of a line, or escaped in another way than by a
// backslash is not found.
//
// # How
//
// Each file is read once, as a stream, whatever its size and however many credentials
// there are: what could be the end of a piece is looked up by its last eight bytes, and
// then compared. Only a file in which something was found is written anew.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package leak

import "github.com/evenkeel/evenkeel/pkg/credential"

// Bounds of the search, in bytes.
const (
	// tail is how much of a piece it is looked up by, so that nothing shorter can be
	// searched for.
	tail = 8
	// window is how long the pieces are that a long secret is looked for by.
	window = 24
	// longest is how long a piece can be.
	longest = 128
	// fine is up to which length a secret is looked for by a piece at each of its bytes.
	// A longer one is looked for by pieces that lie beside each other.
	fine = 256

	// wordReach is how much of a word is looked at for what it is.
	wordReach = 16 << 10
	// recentWords is how many words back a piece may begin: one that is cut into lines
	// of a character each would still be found.
	recentWords = 2 * longest
	// leastToken is how long a bearer token must be to be taken for one.
	leastToken = 8
	// leastKeyLine is how long a line of a PEM block of which no provider told must be to be
	// taken for its content, and strangers how many other words may come between two of
	// them, such as what a log puts before each line.
	leastKeyLine = 16
	strangers    = 12
)

// Mask stands in a file for what was found there.
const Mask = "(masked)"

// Searchable is whether a credential is long enough to be searched for.
func Searchable(c credential.Credential) bool {
	text, ok := c.Text()
	return !ok || len(text) >= tail
}
