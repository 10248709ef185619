package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// crdFile is beside the folders of the scenario, its faults and its workloads.
const crdFile = "crds/soundings.yaml"

var requirementID = regexp.MustCompile(`^(SV|AD|CLE|SVM|EV|RO)-[0-9]{2}$`)

// Load reads a scenario and everything that it names, from the folders beside
// the one that it is in. Errors name the file and line.
func Load(file string) (*Scenario, error) {
	folder, name := filepath.Split(filepath.Clean(file))
	folder = filepath.Clean(folder)
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("find the scenario %s: %w", file, err)
	}
	return load(os.DirFS(filepath.Dir(absolute)), path.Join(filepath.Base(absolute), name), file)
}

// LoadOver is Load, and what the scenario names and the folders beside its own lack is that of
// the fixtures that ship with Evenkeel.
func LoadOver(shipped fs.FS, file string) (*Scenario, error) {
	folder, name := filepath.Split(filepath.Clean(file))
	absolute, err := filepath.Abs(filepath.Clean(folder))
	if err != nil {
		return nil, fmt.Errorf("find the scenario %s: %w", file, err)
	}
	return load(over{os.DirFS(filepath.Dir(absolute)), shipped}, path.Join(filepath.Base(absolute), name), file)
}

// over has the files of the first one, and of the second one those that the first one lacks.
type over struct{ first, second fs.FS }

func (o over) Open(name string) (fs.File, error) {
	file, err := o.first.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.second.Open(name)
	}
	return file, err
}

// LoadFS is Load from a file system whose folders are those of the fixtures.
func LoadFS(fixtures fs.FS, file string) (*Scenario, error) { return load(fixtures, file, file) }

// load reads the file, which messages call shown.
func load(fixtures fs.FS, file, shown string) (*Scenario, error) {
	raw, err := fs.ReadFile(fixtures, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the scenario %s: there is no such file, nor does a scenario of that name ship; `evenkeel scenarios` lists them", shown)
	}
	if err != nil {
		return nil, fmt.Errorf("read the scenario %s: %w", shown, cause(err))
	}
	s := &Scenario{}
	if err := strictyaml.Decode(shown, raw, s); err != nil {
		return nil, err
	}
	s.File = shown
	complain := func(where string, err error) error {
		if err == nil {
			return nil
		}
		if line := strictyaml.Line(raw, where); line > 0 {
			return fmt.Errorf("%s:%d: %w", shown, line, err)
		}
		return fmt.Errorf("%s: %w", shown, err)
	}
	return s, errors.Join(s.validate(complain), s.resolve(fixtures, complain), s.fit(complain))
}

// cause leaves the path out of a file error: the message has it already.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (s *Scenario) validate(complain func(where string, err error) error) error {
	var errs []error
	wrong := func(where, format string, args ...any) {
		errs = append(errs, complain(where, fmt.Errorf(format, args...)))
	}
	if s.APIVersion != APIVersion || s.Kind != Kind {
		wrong("kind", "is a %q of %q, but a %q of %q is needed", s.Kind, s.APIVersion, Kind, APIVersion)
	}
	if s.Metadata.Name == "" {
		wrong("metadata", "metadata.name is missing")
	}
	if s.LeaderElection.ExtraElections < 0 {
		wrong("leaderElection.extraElections", "leaderElection.extraElections must not be negative")
	}
	if !s.LeaderElection.ReleaseOnExit.Valid() {
		wrong("leaderElection.releaseOnExit", "leaderElection.releaseOnExit is %q: write on or off, or leave it out", s.LeaderElection.ReleaseOnExit)
	}
	if share := s.Traffic.Share; share != nil && !(*share > 0 && *share <= 1) {
		wrong("traffic.share", "traffic.share must be above 0 and at most 1")
	}
	if s.Start.MigrationRate < 0 {
		wrong("start.migrationRate", "start.migrationRate must not be negative")
	}
	if len(s.Steps) == 0 {
		wrong("steps", "there are no steps")
	}
	for i, id := range s.Judges {
		if !requirementID.MatchString(id) {
			wrong(fmt.Sprintf("judges[%d]", i), "%q is no ID of a requirement", id)
		}
	}
	if err := s.Discovery.validate(s.Judges); err != nil {
		wrong("discovery", "%w", err)
	}
	for name, defined := range s.Definitions {
		if defined.Kind != yaml.MappingNode {
			wrong("faults", "faults.%s must be a fault, as a file in the folder of faults has it", name)
		}
	}
	known := names{}
	for i := range s.Steps {
		step := &s.Steps[i]
		for _, err := range s.stepProblems(step, &known) {
			wrong(fmt.Sprintf("steps[%d]", i), "step %d (%s): %w", i+1, step.Name(), err)
		}
	}
	return errors.Join(errs...)
}

// stepProblems says what is wrong with a step. known are the names that earlier steps have
// given, and get those that this one gives.
func (s *Scenario) stepProblems(step *Step, known *names) (errs []error) {
	if of, ok := step.Action.(usingBackend); ok && of.backend() != "" && !slices.Contains(s.Discovery.Backends, of.backend()) {
		errs = append(errs, fmt.Errorf("there is no backend %q among discovery.backends", of.backend()))
	}
	if err := step.validate(); err != nil {
		errs = append(errs, err)
	}
	if err := step.whenProblem(known); err != nil {
		errs = append(errs, fmt.Errorf("when: %w", err))
	}
	if one, ok := step.Action.(naming); ok {
		if err := one.name(known); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// resolve reads the files that the scenario names.
func (s *Scenario) resolve(fixtures fs.FS, complain func(where string, err error) error) error {
	var errs []error
	s.Faults = map[string]*fault.Fault{}
	for i := range s.Steps {
		for _, name := range faultsOf(s.Steps[i].Action) {
			if s.Faults[name] != nil || name == "" {
				continue
			}
			file, raw, err := s.faultFile(fixtures, name)
			if err == nil {
				s.Faults[name], err = fault.Parse(file, raw)
			}
			errs = append(errs, complain(fmt.Sprintf("steps[%d]", i), err))
		}
	}
	for i, name := range s.Traffic.Workloads {
		w, err := readWorkload(fixtures, name)
		if err == nil && s.Traffic.Share != nil {
			w = w.AtShare(*s.Traffic.Share)
		}
		s.Workloads = append(s.Workloads, w)
		errs = append(errs, complain(fmt.Sprintf("traffic.workloads[%d]", i), err))
	}
	s.Populations = map[string]*workload.Workload{}
	for i := range s.Steps {
		for _, name := range workloadsOf(s.Steps[i].Action) {
			w, err := readWorkload(fixtures, name)
			s.Populations[name] = w
			errs = append(errs, complain(fmt.Sprintf("steps[%d]", i), err))
		}
	}
	crd, err := fs.ReadFile(fixtures, crdFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, complain("", fmt.Errorf("read %s: %w", crdFile, cause(err))))
	}
	s.CRD = crd
	return errors.Join(errs...)
}

// faultFile is the content of a fault that a step names, and what messages call it.
func (s *Scenario) faultFile(fixtures fs.FS, name string) (file string, raw []byte, err error) {
	if defined, ok := s.Definitions[name]; ok {
		raw, err = yaml.Marshal(&defined)
		return "faults." + name, raw, err
	}
	file = path.Join(fault.Folder, name)
	raw, err = fs.ReadFile(fixtures, file)
	if err != nil {
		err = fmt.Errorf("read the fault %s: %w", file, cause(err))
	}
	return file, raw, err
}

func readWorkload(fixtures fs.FS, name string) (*workload.Workload, error) {
	file := path.Join(workload.Folder, name)
	raw, err := fs.ReadFile(fixtures, file)
	if err != nil {
		return nil, fmt.Errorf("read the workload %s: %w", file, cause(err))
	}
	return workload.Parse(file, raw)
}

// fit checks that the steps go together with the faults that they name, so that
// nothing that either says is passed over.
func (s *Scenario) fit(complain func(where string, err error) error) error {
	var errs []error
	for i := range s.Steps {
		step, ok := s.Steps[i].Action.(usingFaults)
		if !ok {
			continue
		}
		for _, name := range faultsOf(s.Steps[i].Action) {
			if named := s.Faults[name]; named != nil {
				if err := step.fits(named); err != nil {
					errs = append(errs, complain(fmt.Sprintf("steps[%d]", i), fmt.Errorf("step %d (%s): the fault %s %w", i+1, s.Steps[i].Name(), name, err)))
				}
			}
		}
	}
	return errors.Join(errs...)
}
