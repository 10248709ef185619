package site

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Chart is bars under a caption. Every bar has its label and its value in words, so that the
// picture only adds to them.
type Chart struct {
	Caption string
	// Note says what the scale is.
	Note   string
	Groups []BarGroup
}

// BarGroup is a row of the table that a chart is of.
type BarGroup struct {
	Label string
	Bars  []Bar
}

// Bar is one value. Positions are from 0 to chartWidth.
type Bar struct {
	// Label is empty where the group has only one bar.
	Label, Value string
	// Series numbers the colors, from 0.
	Series int
	// From and Width are of the bar, Base is where bars begin.
	From, Width, Base float64
	// Low and Span are of its interval; Span is 0 where there is none.
	Low, Span float64
	// Marks are single values.
	Marks []float64
}

const (
	// chartWidth is the width of a chart in its own units.
	chartWidth = 1000.0
	// smallestRatio and greatestRatio are the ends of a chart of ratios; what is beyond is
	// drawn at the end.
	smallestRatio, greatestRatio = 0.001, 1000.0
	// leastDecades is how much a logarithmic scale shows on each side of 1 at least.
	leastDecades = 1.0
)

// ratioColumn is the heading of a column that compares two others.
const ratioColumn = "ratio"

// share is a cell with a percentage, alone or after a count, and with an interval or a
// fraction: "40.7 % (11/27)", "17, 57 % (39–73 %)".
var share = regexp.MustCompile(`^(?:\d+, )?(\d+(?:\.\d+)?) %(?: \((?:(\d+(?:\.\d+)?)–(\d+(?:\.\d+)?) %|[\d/]+)\))?$`)

// chartOf draws what a table compares: the column of ratios, or else the columns of
// percentages. It returns nil for a table that has neither.
func chartOf(t Table) *Chart {
	if i := slices.Index(t.Header, ratioColumn); i >= 0 {
		return ratios(t, i)
	}
	return percentages(t)
}

func ratios(t Table, column int) *Chart {
	type row struct {
		label, value string
		at           float64
	}
	var rows []row
	decades := leastDecades
	for _, cells := range t.Rows {
		value, err := strconv.ParseFloat(cells[column], 64)
		if err != nil {
			continue // there was nothing to compare
		}
		at := math.Log10(min(max(value, smallestRatio), greatestRatio))
		decades = max(decades, math.Ceil(math.Abs(at)))
		rows = append(rows, row{cells[0], fmt.Sprintf("%s (%s)", cells[column], strings.Join(cells[1:column], " / ")), at})
	}
	if len(rows) == 0 {
		return nil
	}
	c := &Chart{
		Caption: "Ratio: " + strings.TrimSpace(t.Header[0]),
		Note:    fmt.Sprintf("The scale is logarithmic, from %s to %s, with 1 in the middle. In brackets: %s.", number(math.Pow(10, -decades)), number(math.Pow(10, decades)), strings.Join(t.Header[1:column], " / ")),
	}
	if strings.TrimSpace(t.Header[0]) == "" {
		c.Caption = "Ratio"
	}
	middle := chartWidth / 2
	for _, r := range rows {
		end := middle + r.at/decades*middle
		series := 0
		if r.at > 0 {
			series = 1
		}
		c.Groups = append(c.Groups, BarGroup{r.label, []Bar{{Value: r.value, Series: series, From: min(middle, end), Width: math.Abs(end - middle), Base: middle}}})
	}
	return c
}

func percentages(t Table) *Chart {
	var columns []int
	for i := range t.Header {
		whole := len(t.Rows) > 0
		for _, cells := range t.Rows {
			whole = whole && share.MatchString(cells[i])
		}
		if whole {
			columns = append(columns, i)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	c := &Chart{Caption: strings.Join(pick(t.Header, columns), " · "), Note: "The scale is from 0 to 100 %."}
	before := columns[0]
	for _, cells := range t.Rows {
		var label []string
		for i := range before {
			label = append(label, t.Header[i]+" "+cells[i])
		}
		g := BarGroup{Label: strings.Join(label, ", ")}
		for n, i := range columns {
			match := share.FindStringSubmatch(cells[i])
			bar := Bar{Value: cells[i], Series: n, Width: percent(match[1])}
			if len(columns) > 1 {
				bar.Label = t.Header[i]
			}
			if match[2] != "" {
				bar.Low = percent(match[2])
				bar.Span = percent(match[3]) - bar.Low
			}
			g.Bars = append(g.Bars, bar)
		}
		c.Groups = append(c.Groups, g)
	}
	return c
}

func pick(from []string, at []int) []string {
	var out []string
	for _, i := range at {
		out = append(out, from[i])
	}
	return out
}

// percent is the position of a percentage that share has matched.
func percent(digits string) float64 {
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0
	}
	return min(value, 100) / 100 * chartWidth
}

func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// Grouped is whether the bars have labels of their own, below that of the group.
func (g BarGroup) Grouped() bool { return len(g.Bars) > 0 && g.Bars[0].Label != "" }
