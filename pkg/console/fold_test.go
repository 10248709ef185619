package console

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFold_KeepsColumnsAndListItems(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a line that fits", "one two\n", "one two\n"},
		{"a text without an end", strings.Repeat("word ", 9) + "end", "word word word word word word word word\nword end"},
		{"the last column", "ID      PROMISE\nSV-01   one two three four five six seven eight\n",
			"ID      PROMISE\nSV-01   one two three four five six\n        seven eight\n"},
		{"a column without room", "quick.yaml  aggregated servers, and more of it   SV-01 SV-02\n",
			"quick.yaml  aggregated servers, and more\n            of it\n            SV-01 SV-02\n"},
		{"a list item", "- `a` (text): what it is, and how it is used here\n", "- `a` (text): what it is, and how it is\n  used here\n"},
		{"an indented line", "    source: a place that has a long name, ok\n", "    source: a place that has a long\n    name, ok\n"},
		{"a word that is too long", "a " + strings.Repeat("x", 50) + " b\n", "a\n" + strings.Repeat("x", 50) + "\nb\n"},
		{"a long word that fits below", " nine      " + strings.Repeat("x", 30) + "\n", " nine\n " + strings.Repeat("x", 30) + "\n"},
		{"more bytes than characters", strings.Repeat("é", 39) + "\n", strings.Repeat("é", 39) + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := fold(tc.text, 40); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestFold_LosesNoWordAndKeepsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`( {0,6}[a-z–-]{1,12}){0,20}\n?`).Draw(t, "text")
		width := rapid.IntRange(40, 90).Draw(t, "width")
		got := fold(text, width)
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
			t.Fatalf("%q became %q", text, got)
		}
		for line := range strings.Lines(got) {
			// A word that is too long stands alone.
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width && len(strings.Fields(line)) > 1 {
				t.Fatalf("%q is longer than %d", line, width)
			}
		}
	})
}

func TestPrint_LeavesAFileAsItIs(t *testing.T) {
	var out bytes.Buffer
	table := NewTable()
	table.Addf("ID\tPROMISE")
	table.Addf("SV-01\t%s", strings.Repeat("word ", 99)+"end")
	if err := table.Print(&out); err != nil {
		t.Fatal(err)
	}
	if want := "ID     PROMISE\nSV-01  " + strings.Repeat("word ", 99) + "end\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
