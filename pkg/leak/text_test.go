package leak

import "testing"

func TestMaskerMasksTexts(t *testing.T) {
	m := NewMasker(known)
	for text, want := range map[string]string{
		"":                                       "",
		"two\nlines":                             "two\nlines",
		"it used " + token + " and\nfailed":      "it used (masked) and\nfailed",
		"Authorization: Bearer abcdefghijklmnop": "Authorization: Bearer (masked)",
	} {
		if got := m.Mask(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
