package docs

import (
	"fmt"
	"strings"
)

// Sentence is a row of a table that holds a sentence of a KEP against code and requirements.
type Sentence struct {
	// Where is the file and line of the row.
	Where string
	// Section is that of the KEP's text, Text the sentence in our own words.
	Section, Text string
	// Implemented says where the sentence is implemented, Judged which requirements judge it. Either
	// begins with a word of lacking, and then says why, where there is nothing.
	Implemented, Judged string
}

const (
	sentencesHeader = "| section | the text says | implemented in | judged by |"
	notImplemented  = "not implemented: "
	noRequirement   = "no requirement"
)

// Lacks is whether a sentence has no code or no requirement.
func (s Sentence) Lacks() bool {
	return strings.HasPrefix(s.Implemented, notImplemented) || strings.HasPrefix(s.Judged, noRequirement)
}

// Sentences gives the rows of the table of sentences in a document.
func (d Document) Sentences() ([]Sentence, error) {
	var all []Sentence
	inside := false
	for i, line := range strings.Split(d.Text, "\n") {
		switch {
		case line == sentencesHeader:
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside && !strings.HasPrefix(line, "|--"):
			where := fmt.Sprintf("%s:%d", d.File, i+1)
			cells := strings.Split(strings.Trim(line, "|"), "|")
			if len(cells) != 4 {
				return nil, fmt.Errorf("%s has %d columns; a sentence has 4: %s", where, len(cells), sentencesHeader)
			}
			for j := range cells {
				cells[j] = strings.TrimSpace(cells[j])
			}
			all = append(all, Sentence{Where: where, Section: cells[0], Text: cells[1], Implemented: cells[2], Judged: cells[3]})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no table of sentences; it begins with the line %s", d.File, sentencesHeader)
	}
	return all, nil
}
