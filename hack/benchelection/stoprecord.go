package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

// stopRecord is what was measured of graceful stops, by column, so that a long measurement can
// be made in parts.
type stopRecord struct {
	Columns []stopRow `yaml:"columns"`
}

// stopRow is what was measured of one control plane. Times are seconds.
type stopRow struct {
	Name        string `yaml:"name"`
	Title       string `yaml:"title"`
	Releases    bool   `yaml:"releases"`
	Coordinated bool   `yaml:"coordinated,omitempty"`
	// Lease, Deadline and Retry are the timing of its Leases.
	Lease    time.Duration `yaml:"lease"`
	Deadline time.Duration `yaml:"deadline"`
	Retry    time.Duration `yaml:"retry"`
	Date     string        `yaml:"date"`
	Machine  string        `yaml:"machine"`
	// Busy is the share of all processors' time that was taken meanwhile.
	Busy  float64 `yaml:"busy"`
	Stops []stop  `yaml:"stops"`
}

// stop is what came of one. A time is infinite where the event did not happen within its bound.
type stop struct {
	// Exit is from SIGTERM until the leader's process has ended.
	Exit float64 `yaml:"exit"`
	// Leaderless is from when the leader had released its Lease or its process had ended,
	// whichever came first, until another instance led.
	Leaderless float64 `yaml:"leaderless"`
	// Beside is for how long the process of the former leader still ran when another instance
	// led already.
	Beside float64 `yaml:"beside"`
	// Idle is from the last action of the former leader to the first one of the next, and
	// Overlap is the time from the first action of the next leader to the last one of the
	// former: one of them is 0. etcd's order of the writes decides which.
	Idle    float64 `yaml:"idle"`
	Overlap float64 `yaml:"overlap"`
}

func loadStops(file string) (*stopRecord, error) {
	var r stopRecord
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &r, nil
	case err != nil:
		return nil, fmt.Errorf("read earlier results: %w", err)
	}
	if err := yaml.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s holds no results: %w", file, err)
	}
	return &r, nil
}

func (r *stopRecord) save(file string) error {
	data, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return bench.WriteFile(file, string(data))
}

// replace puts a row in the place of the one with the same name, or behind all.
func (r *stopRecord) replace(row stopRow) {
	if i := slices.IndexFunc(r.Columns, func(had stopRow) bool { return had.Name == row.Name }); i >= 0 {
		r.Columns[i] = row
		return
	}
	r.Columns = append(r.Columns, row)
}

// rounded is a time to the millisecond, as records have it.
func rounded(seconds float64) float64 { return math.Round(seconds*1e3) / 1e3 }
