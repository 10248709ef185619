package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/regular"
	"github.com/evenkeel/evenkeel/pkg/report"
)

// Read makes the model of a folder of reports. It takes what the reports say; `evenkeel
// verify` tells whether a bundle or a campaign is true to its evidence.
func Read(ctx context.Context, dir string) (*Model, error) {
	m := &Model{Dir: dir, Requirements: rows(), files: map[string]bool{}}
	var err error
	if m.scenarios, err = shippedScenarios(); err != nil {
		return nil, err
	}
	if err := m.list(ctx); err != nil {
		return nil, err
	}
	for _, read := range []func() error{m.readResults, m.readCampaigns, m.readRuns, m.readDocuments, m.readSkew} {
		if err := errors.Join(read(), ctx.Err()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// list finds all regular files. What begins with a dot is not of the reports.
func (m *Model) list(ctx context.Context) error {
	entries := 0
	err := filepath.WalkDir(m.Dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > maxEntries {
			return fmt.Errorf("it holds more than %d files and folders", maxEntries)
		}
		name, err := filepath.Rel(m.Dir, file)
		if err != nil {
			return err
		}
		if name != "." && strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.Type().IsRegular() {
			m.files[filepath.ToSlash(name)] = true
		}
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("the reports in %s cannot be read: %w", m.Dir, err)
	}
	return nil
}

// named are the paths of all files with that name, in order.
func (m *Model) named(name string) []string {
	var out []string
	for file := range m.files {
		if path.Base(file) == name {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out
}

// on is a file of the folder as the system names it.
func (m *Model) on(file string) string { return filepath.Join(m.Dir, filepath.FromSlash(file)) }

func (m *Model) readFile(file string) ([]byte, error) {
	raw, err := regular.ReadFile(m.on(file), maxText)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return raw, nil
}

func (m *Model) readCampaigns() error {
	for _, file := range m.named(conformance.ReportFile) {
		raw, err := m.readFile(file)
		if err != nil {
			return err
		}
		var rep conformance.Report
		if err := yaml.UnmarshalStrict(raw, &rep); err != nil {
			return fmt.Errorf("%s is no report of a campaign: %w", m.on(file), err)
		}
		if rep.APIVersion != conformance.APIVersion || rep.Kind != conformance.Kind {
			return fmt.Errorf("%s is a %q of %q, and a %q of %q is needed: `evenkeel conformance report` writes it", m.on(file), rep.Kind, rep.APIVersion, conformance.Kind, conformance.APIVersion)
		}
		m.Targets = append(m.Targets, &Target{Title: titleOfCampaign(&rep), Campaign: &rep, CampaignDir: path.Dir(file)})
	}
	return nil
}

func (m *Model) readRuns() error {
	for _, file := range m.named(bundle.ReportFile) {
		if !m.files[path.Join(path.Dir(file), bundle.DigestFile)] {
			continue // it is not sealed: the run has not ended
		}
		raw, err := m.readFile(file)
		if err != nil {
			return err
		}
		run := &Run{Path: path.Dir(file), Report: &report.ConformanceReport{}}
		if err := yaml.UnmarshalStrict(raw, run.Report); err != nil {
			return fmt.Errorf("%s is no report of a run: %w", m.on(file), err)
		}
		if run.Report.APIVersion != report.APIVersion || run.Report.Kind != report.Kind {
			return fmt.Errorf("%s is a %q of %q, and a %q of %q is needed: `evenkeel judge --update %s` writes it again", m.on(file), run.Report.Kind, run.Report.APIVersion, report.Kind, report.APIVersion, m.on(run.Path))
		}
		m.Runs = append(m.Runs, run)
	}
	m.assign()
	return nil
}

// runAt gives the bundle in that folder; nil if there is none.
func (m *Model) runAt(dir string) *Run {
	for _, r := range m.Runs {
		if r.Path == dir {
			return r
		}
	}
	return nil
}

// byEvidence gives the bundle of that digest; nil if it is not below the folder.
func (m *Model) byEvidence(digest string) *Run {
	for _, r := range m.Runs {
		if r.Report.Digests.Evidence() == digest {
			return r
		}
	}
	return nil
}
