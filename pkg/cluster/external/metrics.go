package external

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// startMetric tells when a process was started, in seconds since 1970. Every API
// server that is built on the Kubernetes libraries has it.
const startMetric = "process_start_time_seconds"

// counterMetrics only ever grow while a process lives.
var counterMetrics = []string{
	"go_memstats_alloc_bytes_total", "go_memstats_mallocs_total", "process_cpu_seconds_total", "process_network_receive_bytes_total",
}

// metrics are what is read of a server's.
type metrics struct {
	// start is in hundredths of a second since 1970, which is as finely as the kernel
	// counts it.
	start    int64
	counters map[string]float64
}

// longestLine bounds a line of metrics.
const longestLine = 1 << 20

// readMetrics reads a server's metrics as far as is needed.
func readMetrics(body io.Reader) (metrics, error) {
	found := metrics{counters: map[string]float64{}}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		name, text, ok := strings.Cut(lines.Text(), " ")
		if !ok || !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			continue
		}
		if name == startMetric {
			found.start = int64(math.Round(value * 100))
		}
		for _, counter := range counterMetrics {
			if name == counter {
				found.counters[name] = value
			}
		}
	}
	if err := lines.Err(); err != nil {
		return metrics{}, fmt.Errorf("its metrics cannot be read to the end: %w", err)
	}
	if found.start <= 0 {
		return metrics{}, fmt.Errorf("its metrics do not have %s, by which another process is told from this one", startMetric)
	}
	return found, nil
}

// between is whether one reading can be of the same process as one before it and one
// after it: each of its counters lies between theirs. Without any it cannot be told.
func (m metrics) between(before, after metrics) bool {
	if m.start != before.start || m.start != after.start {
		return false
	}
	for name, value := range m.counters {
		low, lowKnown := before.counters[name]
		high, highKnown := after.counters[name]
		if lowKnown && highKnown && (value < low || value > high) {
			return false
		}
	}
	return true
}
