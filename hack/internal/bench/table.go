package bench

import (
	"fmt"
	"strings"
)

// Row is one figure of everything that the table compares.
type Row struct {
	Name string
	Unit Unit
	// Figures are one for each column, NaN where there is none.
	Figures []float64
	// Goal is nil if the figure has no goal.
	Goal *Goal
}

// Table is a part of a report.
type Table struct {
	Title   string
	Columns []string
	Rows    []Row
	// Compared are the two columns whose ratio the table shows and judges by the goals;
	// nil compares nothing.
	Compared *Pair
	// Judged is whether the table shows the goals.
	Judged bool
}

// Pair is two columns, counted from 0: the ratio is that of One to the Other.
type Pair struct{ One, Other int }

// Markdown writes the table with an empty line before it.
func (t Table) Markdown() string {
	var b strings.Builder
	header := append([]string{t.Title}, t.Columns...)
	judged := t.Judged && t.Compared != nil
	if t.Compared != nil {
		header = append(header, "ratio")
	}
	if judged {
		header = append(header, "goal")
	}
	fmt.Fprintf(&b, "\n| %s |\n|---|%s\n", strings.Join(header, " | "), strings.Repeat("---:|", len(header)-1))
	for _, row := range t.Rows {
		cells := []string{row.Name}
		for _, figure := range row.Figures {
			cells = append(cells, row.Unit(figure))
		}
		if t.Compared != nil {
			one := row.Figures[t.Compared.One]
			part := one / row.Figures[t.Compared.Other]
			cells = append(cells, Ratio(part))
			if judged {
				verdict := ""
				if row.Goal != nil {
					verdict = row.Goal.Verdict(one, part)
				}
				cells = append(cells, verdict)
			}
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}
