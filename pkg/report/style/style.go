// Package style has what all pages of Evenkeel have in common: colors for light and dark,
// type, badges, cards and tables, and the policy that a page loads nothing.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package style

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
)

//go:embed base.css
var base string

// Sheet is the style sheet of a page that has more rules of its own.
func Sheet(more string) string { return base + more }

// Policy lets the browser apply that style and run that script, both of which stand in the
// page, and load nothing: what a server under test has said is in pages too. Without a
// script it runs none.
func Policy(sheet, script string) string {
	policy := fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'", Hash(sheet))
	if script != "" {
		policy += fmt.Sprintf("; script-src '%s'", Hash(script))
	}
	return policy
}

// Hash names a text in the way of a content security policy.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
