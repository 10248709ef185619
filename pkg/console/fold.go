package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"
)

// leastRoom is how many characters a column must have to be folded. A column with less room
// continues below the one before it.
const leastRoom = 24

// Print writes a text. Where out is a terminal, it folds lines that are longer than the
// terminal is wide: between words, and below the beginning of the column or of the list item
// that they belong to. At least two spaces part columns.
func Print(out io.Writer, text string) error {
	_, err := io.WriteString(out, Fit(text, Width(out)))
	return err
}

// Table aligns columns, which its lines part by tabs, and is printed as a whole.
type Table struct {
	text    bytes.Buffer
	aligned *tabwriter.Writer
}

// NewTable returns an empty table.
func NewTable() *Table {
	t := &Table{}
	t.aligned = tabwriter.NewWriter(&t.text, 0, 4, 2, ' ', 0)
	return t
}

// Addf adds a line.
func (t *Table) Addf(format string, values ...any) {
	fmt.Fprintf(t.aligned, format+"\n", values...) // a buffer returns no error
}

// Print writes the table as the function Print writes a text.
func (t *Table) Print(out io.Writer) error {
	if err := t.aligned.Flush(); err != nil {
		return err
	}
	return Print(out, t.text.String())
}

// Width is how many characters a line of a terminal has; 0 for anything else.
func Width(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Fit folds a text, as Print does, where the width is known; with 0 it is not.
func Fit(text string, width int) string {
	if width <= 0 {
		return text
	}
	return fold(text, width)
}

func fold(text string, width int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		content, ended := strings.CutSuffix(line, "\n")
		if utf8.RuneCountInString(content) > width {
			content = foldLine(content, width)
		}
		out.WriteString(content)
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// column is a part of a line that has single spaces only.
var column = regexp.MustCompile(`\S+(?: \S+)*`)

// foldLine folds the columns of a line in their places. Where a column has no room in its
// place, or one before it was folded, it continues in the next line.
func foldLine(line string, width int) string {
	var done []string
	now, hang := "", 0
	next := func() { done, now = append(done, now), strings.Repeat(" ", hang) }
	for i, at := range column.FindAllStringIndex(line, -1) {
		start := utf8.RuneCountInString(line[:at[0]])
		words := strings.Split(line[at[0]:at[1]], " ")
		room := max(leastRoom, utf8.RuneCountInString(words[0]))
		switch {
		case i == 0 || len(done) == 0 && start+room <= width:
			hang = start
			now += strings.Repeat(" ", start-utf8.RuneCountInString(now))
		default:
			next()
		}
		for j, word := range words {
			if i == 0 && j == 1 && strings.TrimSpace(now) == "-" {
				hang += len("- ") // a list item
			}
			switch {
			case j > 0 && utf8.RuneCountInString(now)+1+utf8.RuneCountInString(word) > width:
				next()
			case j > 0:
				now += " "
			}
			now += word
		}
	}
	return strings.Join(append(done, now), "\n")
}
