package timeline

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"

	"github.com/evenkeel/evenkeel/pkg/report/style"
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
	sheet := style.Sheet(pageCSS)
	err = pageTemplate.Execute(&out, struct {
		story
		Policy string
		Style  template.CSS
		Script template.JS
		Data   template.JS
	}{
		story:  c.story(),
		Policy: style.Policy(sheet, pageJS),
		//nolint:gosec // G203: style and script are files of these packages, and json.Marshal has escaped <, > and & in the data.
		Style: template.CSS(sheet), Script: template.JS(pageJS), Data: template.JS(data),
	})
	if err != nil {
		return nil, fmt.Errorf("render the timeline: %w", err)
	}
	return out.Bytes(), nil
}
