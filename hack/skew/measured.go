package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"sigs.k8s.io/yaml"
)

// measured are the results of the recorded runs.
type measured struct {
	Cells []*cell `json:"cells"`
}

// cell is one way of electing and one direction, on three members.
type cell struct {
	Coordinated bool `json:"coordinated"`
	Back        bool `json:"back"`
	// Runs is the number of complete runs, Ever the number of those in which a leader was
	// newer than an API server at any time, and Lasting the number of those in which one
	// still was after a replacement had settled.
	Runs    int `json:"runs"`
	Ever    int `json:"ever"`
	Lasting int `json:"lasting"`
	// Milliseconds of skew, one for each run in which there was any.
	Milliseconds []int64 `json:"milliseconds,omitempty"`
}

func load(file string) (*measured, error) {
	m := &measured{}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the results of earlier runs: %w", err)
	}
	if err := yaml.UnmarshalStrict(raw, m); err != nil {
		return nil, fmt.Errorf("%s cannot be read; remove it to begin anew: %w", file, err)
	}
	return m, nil
}

func (m *measured) save(file string) error {
	raw, err := yaml.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode the results: %w", err)
	}
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

// of returns the cell, and adds it if it is missing.
func (m *measured) of(coordinated, back bool) *cell {
	for _, c := range m.Cells {
		if c.Coordinated == coordinated && c.Back == back {
			return c
		}
	}
	c := &cell{Coordinated: coordinated, Back: back}
	m.Cells = append(m.Cells, c)
	return c
}

// add counts one run.
func (c *cell) add(s seen) {
	c.Runs++
	if s.skewed > 0 {
		c.Ever++
		c.Milliseconds = append(c.Milliseconds, s.skewed.Milliseconds())
	}
	if s.lasting {
		c.Lasting++
	}
}

// median and longest return the time of skew, over the runs that had any.
func (c *cell) median() time.Duration  { return c.at(0.5) }
func (c *cell) longest() time.Duration { return c.at(1) }

func (c *cell) at(share float64) time.Duration {
	if len(c.Milliseconds) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(c.Milliseconds))
	i := max(int(math.Ceil(share*float64(len(sorted))))-1, 0)
	return time.Duration(sorted[i]) * time.Millisecond
}
