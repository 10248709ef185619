package history

import (
	"strings"
	"testing"
)

func TestImplementationProblems(t *testing.T) {
	good := func() *Implementation {
		return &Implementation{Organization: "Example, Inc.", Project: "exampleplane", URL: "https://example.org/plane", Version: "1.2", Contact: []string{"https://example.org/help", "plane@example.org"}}
	}
	for _, tc := range []struct {
		name   string
		change func(*Implementation)
		want   string
	}{
		{"nothing", func(*Implementation) {}, ""},
		{"no organization", func(i *Implementation) { i.Organization = "" }, "organization is missing"},
		{"no project", func(i *Implementation) { i.Project = "" }, "project is missing"},
		{"two lines", func(i *Implementation) { i.Project = "a\nb" }, `project "a\nb" is not one line of plain text`},
		{"spaces around", func(i *Implementation) { i.Project = " a" }, "project \" a\" is not one line"},
		{"too long", func(i *Implementation) { i.Organization = strings.Repeat("a", maxWords+1) }, "organization is longer than 200 bytes"},
		{"no version", func(i *Implementation) { i.Version = "" }, "version is missing"},
		{"no url", func(i *Implementation) { i.URL = "" }, "url is missing"},
		{"no web address", func(i *Implementation) { i.URL = "example.org" }, `url "example.org" is no address`},
		{"a script", func(i *Implementation) { i.URL = "javascript://example.org/%0aalert(1)" }, "is no address"},
		{"a password", func(i *Implementation) { i.URL = "https://me:secret@example.org" }, "is no address"},
		{"no contact", func(i *Implementation) { i.Contact = nil }, "contact is missing"},
		{"an empty contact", func(i *Implementation) { i.Contact = []string{""} }, "contact[0] is missing"},
		{"a contact that is none", func(i *Implementation) { i.Contact[1] = "me" }, `contact[1] "me" is neither an address`},
		{"a contact with a name", func(i *Implementation) { i.Contact[1] = "Me <me@example.org>" }, "contact[1]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := good()
			tc.change(i)
			problems := i.Problems()
			if tc.want == "" && len(problems) > 0 || tc.want != "" && (len(problems) != 1 || !strings.Contains(problems[0], tc.want)) {
				t.Errorf("problems %q, want %q", problems, tc.want)
			}
		})
	}
}
