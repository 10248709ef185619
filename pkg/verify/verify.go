// Package verify checks a bundle: whether it is whole, whether its report
// follows from its history, and whose signature it has. It needs only the bundle, so every
// reader of a published bundle can verify it.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/attest"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/metrics"
	"github.com/evenkeel/evenkeel/pkg/regular"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/timeline"
)

// Options of a verification.
type Options struct {
	// Report to compare in the place of the bundle's own.
	Report string
	// Key that the bundle must be signed with; nil if the signature does not matter.
	Key *attest.PublicKey
	// Harness is the version of this evenkeel.
	Harness string
}

// Outcome of a verification.
type Outcome struct {
	// Problems are what does not match, a line each; none means that all matches.
	Problems []string
	// Notes are what a reader should know that does not affect whether the bundle matches.
	Notes []string
	// Digests of the files in the bundle, SHA256SUMS and a signature left aside.
	Digests []bundle.Digest
	// Report follows from the history; nil where that could not be judged.
	Report *report.ConformanceReport
	// Signed names the signer, if Options have a key and the signature is valid.
	Signed string
}

// Matches is whether there was no problem.
func (o *Outcome) Matches() bool { return len(o.Problems) == 0 }

func (o *Outcome) problem(format string, args ...any) {
	o.Problems = append(o.Problems, fmt.Sprintf(format, args...))
}

// Bundle verifies a bundle. An error means that the bundle cannot be read, so there is no
// outcome. The same bundle gives the same outcome.
func Bundle(ctx context.Context, dir string, options Options) (*Outcome, error) {
	o := &Outcome{}
	problems, digests, err := bundle.Audit(ctx, dir)
	if err != nil {
		return nil, err
	}
	o.Problems, o.Digests = problems, digests
	for _, name := range []string{bundle.ReportFile, bundle.ScenarioFile, bundle.TopologyFile, bundle.EnvironmentFile} {
		if bundle.Lacks(dir, name) {
			o.problem("there is no %s", name)
		}
	}
	if err := o.judgeAgain(ctx, dir, options); err != nil {
		if o.Matches() || ctx.Err() != nil {
			return nil, err
		}
		o.problem("%v", err)
	}
	if err := o.noteMigrations(dir); err != nil {
		return nil, err
	}
	o.signature(dir, options)
	return o, nil
}

// noteMigrations adds a note if the bundle was recorded in an older format.
func (o *Outcome) noteMigrations(dir string) error {
	migrations, err := bundle.ReadMigrations(dir)
	for _, m := range migrations {
		o.Notes = append(o.Notes, fmt.Sprintf("it was recorded in version %d of the history format, and converted to version %d by `evenkeel bundle migrate`: the digests of what was recorded are in %s", m.From, m.To, bundle.MigrationFile))
	}
	return err
}

// judgeAgain judges the history again and compares all files that follow from it. An error
// says that the history or the report cannot be read.
func (o *Outcome) judgeAgain(ctx context.Context, dir string, options Options) error {
	rep, err := judge.Bundle(ctx, dir)
	if err != nil {
		return err
	}
	o.Report = rep
	if err := o.compareReport(dir, options); err != nil {
		return err
	}
	if err := o.compareContext(dir); err != nil {
		return err
	}
	for _, view := range []struct {
		name   string
		render func() ([]byte, error)
	}{
		{bundle.JUnitFile, rep.JUnit},
		{bundle.MetricsFile, func() ([]byte, error) { return metrics.Bundle(ctx, dir, rep) }},
		{bundle.TimelineFile, func() ([]byte, error) { return timeline.Bundle(ctx, dir, rep) }},
	} {
		if bundle.Lacks(dir, view.name) {
			continue // a published bundle need not have it
		}
		want, err := view.render()
		if err != nil {
			return err
		}
		if err := o.compareView(dir, view.name, want, options); err != nil {
			return err
		}
	}
	return nil
}

// toldOfDamaged is how many differing fields the outcome lists of a bundle that has other
// problems too.
const toldOfDamaged = 5

func (o *Outcome) compareReport(dir string, options Options) error {
	file := cmp.Or(options.Report, bundle.ReportFile)
	var told []byte
	var err error
	if options.Report != "" {
		told, err = regular.ReadNamed(options.Report, bundle.MaxText)
	} else {
		told, err = bundle.ReadFile(dir, bundle.ReportFile)
	}
	if errors.Is(err, fs.ErrNotExist) && options.Report == "" {
		return nil // Audit has reported that
	}
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	judged, err := o.Report.YAML()
	if err != nil {
		return err
	}
	if bytes.Equal(told, judged) {
		return nil
	}
	different, err := differences(told, judged)
	if err != nil {
		return fmt.Errorf("the report cannot be read: %w", err)
	}
	if o.otherRules(filepath.Base(file), told) {
		// The outcome has them already.
		different = slices.DeleteFunc(different, func(line string) bool {
			return strings.HasPrefix(line, "harness.suite:") || strings.HasPrefix(line, "harness.schema:")
		})
	} else if len(different) == 0 {
		// Two YAML readers may read a text differently that is not in the usual form.
		o.problem("%s: no field differs from what the history says, but it is not written as evenkeel writes it", filepath.Base(file))
		return nil
	}
	// If the history is not complete, all that follows from it may differ, and the outcome
	// says already that the history is not complete.
	if more := len(different) - toldOfDamaged; len(o.Problems) > 0 && more > 0 {
		different = append(different[:toldOfDamaged], fmt.Sprintf("and the report differs in %d more fields", more))
	}
	o.Problems = append(o.Problems, different...)
	if recorded := o.Report.Harness.Version; recorded != options.Harness {
		o.Notes = append(o.Notes, fmt.Sprintf("the run was recorded by evenkeel %s, and this is %s: whether a check was mended in between shows when the former verifies it",
			recorded, options.Harness))
	}
	return nil
}

// compareView compares a file that only shows the report in another form with
// what the history gives. How it is shown may change from version to version, but which
// version a history claims is no evidence: a file that differs never matches here.
func (o *Outcome) compareView(dir, name string, want []byte, options Options) error {
	got, err := bundle.ReadFile(dir, name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	switch recorded := o.Report.Harness.Version; {
	case bytes.Equal(got, want):
	case recorded == options.Harness:
		o.problem("%s is not what the history gives", name)
	default:
		o.problem("%s is not what the history gives here: the history says that evenkeel %s recorded it, and this is %s, which may show the same otherwise; verify it with the former, or, if it is your own, write it anew with `evenkeel judge --update`",
			name, recorded, options.Harness)
	}
	return nil
}

// signature checks the signature. Without a key it can compare only the files that the
// signature is about.
func (o *Outcome) signature(dir string, options Options) {
	envelope, err := attest.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if options.Key != nil {
			o.problem("it is not signed: there is no %s", bundle.SignatureFile)
		}
		return
	case err != nil:
		o.problem("%s: %v", bundle.SignatureFile, err)
		return
	}
	if options.Key == nil {
		o.Notes = append(o.Notes, fmt.Sprintf("it names the key %s as its signer; name the public key with --key to have that checked", envelope.KeyID()))
	} else if err := envelope.Check(options.Key); err != nil {
		o.problem("%s: %v", bundle.SignatureFile, err)
		return
	} else {
		o.Signed = options.Key.ID()
	}
	for _, p := range envelope.Statement.Compare(o.Digests, o.Report) {
		o.problem("%s: %s", bundle.SignatureFile, p)
	}
}
