package observe

import (
	"bytes"
	"strconv"
	"strings"
)

// Counted is the sum of the lines of a counter that have all of the labels, in the
// text of a server's metrics: 0 where there is none.
func Counted(text []byte, counter string, labels map[string]string) int64 {
	var total int64
	for line := range bytes.Lines(text) {
		rest, ok := strings.CutPrefix(string(line), counter+"{")
		if !ok {
			continue
		}
		has, value, _ := strings.Cut(strings.TrimSpace(rest), "} ")
		if !hasAll(","+has+",", labels) {
			continue
		}
		if count, err := strconv.ParseFloat(value, 64); err == nil {
			total += int64(count)
		}
	}
	return total
}

func hasAll(has string, labels map[string]string) bool {
	for name, value := range labels {
		if !strings.Contains(has, ","+name+`="`+value+`",`) {
			return false
		}
	}
	return true
}
