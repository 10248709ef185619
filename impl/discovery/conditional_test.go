package discovery

import (
	"strings"
	"testing"
)

func TestUnchanged(t *testing.T) {
	const tag = `"ABC"`
	tests := map[string]struct {
		header []string
		want   bool
	}{
		"no header":                 {nil, false},
		"empty":                     {[]string{""}, false},
		"the tag":                   {[]string{`"ABC"`}, true},
		"another tag":               {[]string{`"ABD"`}, false},
		"part of the tag":           {[]string{`"AB"`}, false},
		"without quotes":            {[]string{`ABC`}, false},
		"weak":                      {[]string{`W/"ABC"`}, true},
		"weak in lower case":        {[]string{`w/"ABC"`}, false},
		"anything":                  {[]string{`*`}, true},
		"anything, padded":          {[]string{" *\t"}, true},
		"anything within a list":    {[]string{`"X", *`}, false},
		"list":                      {[]string{`"X", W/"Y" ,"ABC"`}, true},
		"list without the tag":      {[]string{`"X","Y"`}, false},
		"list over several lines":   {[]string{`"X"`, `"ABC"`}, true},
		"empty elements":            {[]string{`,, "X",, "ABC",`}, true},
		"a comma within a tag":      {[]string{`"X,Y", "ABC"`}, true},
		"the tag within a tag":      {[]string{`"X,"ABC""`}, false},
		"no comma":                  {[]string{`"X" "ABC"`}, false},
		"unfinished":                {[]string{`"ABC`}, false},
		"after something unread":    {[]string{`X, "ABC"`}, false},
		"before something unread":   {[]string{`"ABC", X`}, true},
		"a control character":       {[]string{"\"A\x01\", \"ABC\""}, false},
		"only commas":               {[]string{",,,"}, false},
		"only the mark of the weak": {[]string{"W/"}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Unchanged(test.header, tag); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A header is never taken for proof of a tag that does not stand in it.
func FuzzUnchanged(f *testing.F) {
	f.Add(`"ABC"`)
	f.Add(`W/"X", ,"ABC"`)
	f.Add("*")
	f.Fuzz(func(t *testing.T, header string) {
		const tag = `"ABC"`
		if Unchanged([]string{header}, tag) && !strings.Contains(header, tag) && strings.Trim(header, " \t") != "*" {
			t.Fatalf("%q was taken for %s", header, tag)
		}
	})
}

func TestAcceptsGzip(t *testing.T) {
	tests := map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false,
		"identity": false, "*": true, "*;q=0": false, "*;q=0, gzip": true, "gzip;q=0, *": false, "gzipped": false, "br": false,
	}
	for header, want := range tests {
		if got := AcceptsGzip([]string{header}); got != want {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
	}
}
