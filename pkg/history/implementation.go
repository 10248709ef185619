package history

import (
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"unicode"
)

// maxWords is how many bytes a name, a version or an address may have: reports
// show them in tables.
const maxWords = 200

// Implementation is who answers for the control plane that is tested. Topologies
// and reports have it in the same form.
type Implementation struct {
	// Organization that makes the control plane.
	Organization string `json:"organization" yaml:"organization"`
	// Project is what the control plane is called.
	Project string `json:"project" yaml:"project"`
	// URL of the project, of http or https.
	URL string `json:"url" yaml:"url"`
	// Version of the project that was tested. A topology may leave it out, and the
	// version is then what the releases are called at which its members begin.
	Version string `json:"version" yaml:"version,omitempty"`
	// Contact are addresses for questions: web pages or mail addresses, at least one.
	Contact []string `json:"contact" yaml:"contact"`
}

// Problems says in words what is wrong with it, a field each; nothing if it is as
// it should be.
func (i *Implementation) Problems() []string {
	var out []string
	for _, field := range []struct{ name, value string }{
		{"organization", i.Organization}, {"project", i.Project}, {"url", i.URL}, {"version", i.Version},
	} {
		if problem := wordsProblem(field.value); problem != "" {
			out = append(out, field.name+" "+problem)
		}
	}
	if i.URL != "" && !isWebAddress(i.URL) {
		out = append(out, fmt.Sprintf("url %q is no address such as https://example.org", i.URL))
	}
	if len(i.Contact) == 0 {
		out = append(out, "contact is missing")
	}
	for at, contact := range i.Contact {
		if problem := wordsProblem(contact); problem != "" {
			out = append(out, fmt.Sprintf("contact[%d] %s", at, problem))
		} else if !isWebAddress(contact) && !isMailAddress(contact) {
			out = append(out, fmt.Sprintf("contact[%d] %q is neither an address such as https://example.org nor one of mail", at, contact))
		}
	}
	return out
}

// wordsProblem is what is wrong with a text that is to be shown on a line.
func wordsProblem(text string) string {
	switch {
	case text == "":
		return "is missing"
	case len(text) > maxWords:
		return fmt.Sprintf("is longer than %d bytes", maxWords)
	case text != strings.TrimSpace(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Sprintf("%q is not one line of plain text", text)
	}
	return ""
}

func isWebAddress(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Hostname() != "" && parsed.User == nil
}

func isMailAddress(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}
