package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// Folders beside the scenario's own that its names are looked up in.
const (
	faultsFolder    = "faults"
	workloadsFolder = "workloads"
	crdFile         = "crds/soundings.yaml"
)

var requirementID = regexp.MustCompile(`^(SV|AD|CLE|SVM|RO)-[0-9]{2}$`)

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

// LoadFS is Load from a file system whose folders are those of the fixtures.
func LoadFS(fixtures fs.FS, file string) (*Scenario, error) { return load(fixtures, file, file) }

// load reads the file, which messages call shown.
func load(fixtures fs.FS, file, shown string) (*Scenario, error) {
	raw, err := fs.ReadFile(fixtures, file)
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
	holds, known := map[string]bool{}, named{}
	for i := range s.Steps {
		where := fmt.Sprintf("steps[%d]", i)
		step := &s.Steps[i]
		if name := step.backend(); name != "" && !slices.Contains(s.Discovery.Backends, name) {
			wrong(where, "step %d: there is no backend %q among discovery.backends", i+1, name)
		}
		action, err := step.validate()
		if err != nil {
			wrong(where, "step %d (%s): %w", i+1, action, err)
		}
		if err := known.meet(step); err != nil {
			wrong(where, "step %d (%s): %w", i+1, action, err)
		}
		if hold := step.Hold; hold != nil {
			if holds[hold.Name] {
				wrong(where, "step %d (hold): the name %q is taken by an earlier hold", i+1, hold.Name)
			}
			holds[hold.Name] = true
		}
	}
	return errors.Join(errs...)
}

// action is the name of the field that is set, and its value; it is an error if
// not exactly one is.
func (s *Step) action() (string, any, error) {
	value := reflect.ValueOf(s).Elem()
	name, set := "", any(nil)
	for i := range value.NumField() {
		if value.Field(i).IsNil() {
			continue
		}
		if name != "" {
			return name, set, errors.New("has more than one action; make each a step of its own")
		}
		name = actionName(value.Type().Field(i))
		set = value.Field(i).Interface()
	}
	if name == "" {
		return "no action", nil, errors.New("has no action")
	}
	return name, set, nil
}

func actionName(field reflect.StructField) string {
	tag := field.Tag.Get("yaml")
	for i := range tag {
		if tag[i] == ',' {
			return tag[:i]
		}
	}
	return tag
}

// validate checks what can be known without a cluster.
func (s *Step) validate() (action string, err error) {
	action, set, err := s.action()
	if err != nil {
		return action, err
	}
	missing := func(key, value string) error {
		if value == "" {
			return fmt.Errorf("%s is missing", key)
		}
		return nil
	}
	switch v := set.(type) {
	case *Replace:
		err = errors.Join(missing("member", v.Member), missing("to", v.To), cluster.CheckFeatures(v.DisabledFeatures))
	case *Restart:
		if len(v.Members) == 0 {
			err = errors.New("members is missing")
		}
		err = errors.Join(err, cluster.CheckFeatures(v.DisabledFeatures))
	case *Strike:
		err = missing("fault", v.Fault)
		if v.DownFor != 0 && action != "crash" {
			err = errors.Join(err, errors.New("downFor belongs to a crash only"))
		}
		if v.DownFor < 0 {
			err = errors.Join(err, errors.New("downFor must not be negative"))
		}
	case *Target:
		err = missing("member", v.Member)
		switch cluster.Component(v.Component) {
		case "", cluster.Etcd, cluster.APIServer, cluster.ControllerManager, cluster.Scheduler:
		default:
			err = errors.Join(err, fmt.Errorf("there is no component %q", v.Component))
		}
	case *PowerCycle:
		err = missing("member", v.Member)
		if v.OffFor <= 0 {
			err = errors.Join(err, errors.New("offFor must be a positive duration"))
		}
	case *ConflictStorm:
		if len(v.Members) == 0 || v.Objects <= 0 || v.Interval <= 0 {
			err = errors.New("members must be there, and objects and interval positive")
		}
	case *JoinWithoutReporting:
		err = errors.Join(missing("member", v.Member), missing("fault", v.Fault))
		if v.For <= 0 {
			err = errors.Join(err, errors.New("for must be a positive duration"))
		}
	case *Hold:
		err = missing("name", v.Name)
		if v.For <= 0 {
			err = errors.Join(err, errors.New("for must be a positive duration"))
		}
		if v.LeaderStableFor < 0 || v.LeaderStableFor >= LedTimeout {
			err = errors.Join(err, fmt.Errorf("leaderStableFor must be a duration shorter than %s", LedTimeout))
		}
	case *Tamper:
		err = errors.Join(missing("member", v.Member), v.validate())
	case *SimulatedServer:
		err = errors.Join(missing("member", v.Member), v.validate())
	case *WaitForHits:
		err = missing("fault", v.Fault)
		if v.Requests < 0 || v.Completed < 0 {
			err = errors.Join(err, errors.New("requests and completed must not be negative"))
		}
	case *RegisterAPI:
		err = errors.Join(missing("member", v.Member), v.validate())
	case *UnregisterAPI:
		err = errors.Join(missing("member", v.Member), v.validate())
	case *Churn:
		if len(v.Members) == 0 || v.Resources < 0 {
			err = errors.New("members must be there, and resources not negative")
		}
		if v.Rounds < 0 || v.For < 0 || (v.Rounds == 0) == (v.For == 0) {
			err = errors.Join(err, errors.New("give either rounds or for, which must be positive"))
		}
	case *SetBackendBehavior:
		err = errors.Join(missing("name", v.Name), v.validate())
	case *ThirdPartyAPIService:
		err = errors.Join(missing("member", v.Member), v.validate())
	case *Populate:
		err = errors.Join(missing("name", v.Name), v.validate())
	case *Mutate:
		err = missing("population", v.Population)
		if wrong := workload.CheckRate(v.Rate); wrong != nil {
			err = errors.Join(err, fmt.Errorf("rate %w", wrong))
		}
	case *Migrate:
		err = errors.Join(missing("name", v.Name), missing("member", v.Member), v.validate())
	case *AwaitMigrations:
		err = errors.Join(missing("migrations", strings.Join(v.Migrations, "")), v.validate())
	case *DeleteMigration:
		err = errors.Join(missing("member", v.Member), missing("migration", v.Migration))
	case *DeleteNamespace:
		err = errors.Join(missing("member", v.Member), missing("population", v.Population))
	case *SimulateElection:
		err = errors.Join(missing("member", v.Member), missing("lease", v.Lease), v.validate())
	case *DisruptLease:
		err = errors.Join(missing("member", v.Member), missing("lease", v.Lease), v.validate())
	case *LeaseFields:
		err = errors.Join(missing("member", v.Member), missing("coordinatedMember", v.CoordinatedMember))
	case *RandomFaults:
		err = v.validate()
	}
	return action, err
}

// faults are the files that a step names.
func (s *Step) faults() []string {
	_, set, _ := s.action()
	switch v := set.(type) {
	case *Replace:
		return v.WithFaults
	case *Restart:
		return v.WithFaults
	case *ConflictStorm:
		return v.WithFaults
	case *Strike:
		return []string{v.Fault}
	case *JoinWithoutReporting:
		return []string{v.Fault}
	case *WaitForHits:
		return []string{v.Fault}
	case *RandomFaults:
		return v.Faults
	}
	return nil
}

// resolve reads the files that the scenario names.
func (s *Scenario) resolve(fixtures fs.FS, complain func(where string, err error) error) error {
	var errs []error
	s.Faults = map[string]*fault.Fault{}
	for i := range s.Steps {
		for _, name := range s.Steps[i].faults() {
			if s.Faults[name] != nil || name == "" {
				continue
			}
			file := path.Join(faultsFolder, name)
			raw, err := fs.ReadFile(fixtures, file)
			if err == nil {
				s.Faults[name], err = fault.Parse(file, raw)
			} else {
				err = fmt.Errorf("read the fault %s: %w", file, cause(err))
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
		if s.Steps[i].Populate == nil {
			continue
		}
		for _, name := range s.Steps[i].Populate.Workloads {
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

func readWorkload(fixtures fs.FS, name string) (*workload.Workload, error) {
	file := path.Join(workloadsFolder, name)
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
		action, set, err := s.Steps[i].action()
		if err != nil {
			continue // validate has said so
		}
		for _, name := range s.Steps[i].faults() {
			if named := s.Faults[name]; named != nil {
				if err := fits(action, set, named); err != nil {
					errs = append(errs, complain(fmt.Sprintf("steps[%d]", i), fmt.Errorf("step %d (%s): the fault %s %w", i+1, action, name, err)))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// fits is an error that says what of a fault a step would not do.
func fits(action string, set any, named *fault.Fault) error {
	if turmoil, ok := set.(*RandomFaults); ok {
		return turmoil.suits(named)
	}
	strike, struck := set.(*Strike)
	_, silenced := set.(*JoinWithoutReporting)
	_, meets := set.(*WaitForHits)
	switch {
	case silenced && (!named.Holds() || named.Member != fault.StepMember):
		return fmt.Errorf("must hold requests to etcd, of the member %s", fault.StepMember)
	case meets && named.Type != fault.TypeHTTP:
		return errors.New("hits no requests that could be waited for")
	case silenced, meets:
		return nil
	case action == "crash" && !named.Crashes():
		return errors.New("kills no process")
	case action == "pause" && !named.Pauses():
		return errors.New("freezes no process")
	case action == "partition" && !named.Partitions():
		return errors.New("cuts no link")
	case (action == "pause" || action == "partition") && named.Duration == 0:
		return fmt.Errorf("has no spec.duration, so that the %s would be over at once", action)
	case action == "inject" && named.Duration > 0:
		return errors.New("has a spec.duration, but lasts until a step heals it; leave the duration out")
	case !struck && (named.Crashes() || named.Duration > 0):
		return errors.New("cannot go with a step that stops and starts the member: it kills processes or has a spec.duration")
	case struck && named.Member == fault.StepMember && strike.Member == "" && action != "heal":
		return errors.New("leaves the member to the step, which names none")
	case struck && named.Member != fault.StepMember && strike.Member != "":
		return fmt.Errorf("names the member %s itself, so the step must not name one", named.Member)
	}
	return nil
}
