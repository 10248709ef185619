package timeline

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// page renders what was collected.
func (c *collector) page() ([]byte, error) {
	// encoding/json escapes what could end the element that the data stand in.
	data, err := json.Marshal(c.picture)
	if err != nil {
		return nil, fmt.Errorf("encode the data of the timeline: %w", err)
	}
	var out bytes.Buffer
	err = pageTemplate.Execute(&out, struct {
		story
		// Policy lets the browser run and load what is in this file, and nothing else:
		// what a server under test has said is in here too.
		Policy string
		Style  template.CSS
		Script template.JS
		Data   template.JS
	}{
		story:  c.story(),
		Policy: fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; script-src '%s'", hash(pageCSS), hash(pageJS)),
		//nolint:gosec // G203: style and script are files of this package, and json.Marshal has escaped <, > and & in the data.
		Style: template.CSS(pageCSS), Script: template.JS(pageJS), Data: template.JS(data),
	})
	if err != nil {
		return nil, fmt.Errorf("render the timeline: %w", err)
	}
	return out.Bytes(), nil
}

// hash names a text in the way of a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
