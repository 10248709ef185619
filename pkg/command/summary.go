package command

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func newSummary() *cobra.Command {
	return &cobra.Command{
		Use:   "summary BUNDLE",
		Short: "Tell of a run in Markdown, for a pull request or a KEP",
		Long: `Summary judges a bundle again and tells of it in Markdown: the verdicts, the
answer to the KEP template's question "Were upgrade and rollback tested?", and the
command that repeats the run.`,
		Args: oneBundle,
		RunE: func(cmd *cobra.Command, args []string) error {
			rep, err := judge.Bundle(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			command, remarks, err := repeat(args[0], rep)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), rep.Markdown(command, remarks))
			return err
		},
	}
}

// repeat gives the command that plays a bundle's run again, and what to mind
// about it.
func repeat(dir string, rep *report.ConformanceReport) (command string, remarks []string, err error) {
	args := []string{"evenkeel", "run"}
	topology, err := bundle.ReadFile(dir, bundle.TopologyFile)
	if err != nil {
		return "", nil, fmt.Errorf("read the topology: %w", err)
	}
	var named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := yaml.Unmarshal(topology, &named); err != nil {
		return "", nil, fmt.Errorf("the topology cannot be read: %w", err)
	}
	file := named.Metadata.Name + ".yaml"
	if _, err := fs.ReadFile(clusters.Files, file); err == nil {
		args = append(args, "--topology", "clusters/"+file)
	} else {
		args = append(args, "--topology", inBundle(dir, bundle.TopologyFile))
		remarks = append(remarks, "The topology does not ship with evenkeel; it is in the bundle.")
	}
	if release, same := startRelease(rep); same {
		args = append(args, "--release", release)
	}

	played, err := bundle.ReadFile(dir, bundle.ScenarioFile)
	if err != nil {
		return "", nil, fmt.Errorf("read the scenario: %w", err)
	}
	shipped, err := fs.ReadFile(fixtures.Files, "scenarios/"+rep.Scenario+".yaml")
	if err == nil {
		args = append(args, "--scenario", "fixtures/scenarios/"+rep.Scenario+".yaml")
		if _, scenario, _ := bytes.Cut(played, []byte("\n")); !bytes.Equal(scenario, shipped) {
			remarks = append(remarks, fmt.Sprintf("The scenario has changed since evenkeel %s; the bundle has it as it was played.", rep.Harness.Version))
		}
	} else {
		args = append(args, "--scenario", inBundle(dir, bundle.ScenarioFile))
		remarks = append(remarks, "The scenario does not ship with evenkeel; it is in the bundle.")
	}
	args = append(args, asked(rep)...)
	args = append(args, "--seed", fmt.Sprint(rep.Seed))
	if rep.Defect != "" {
		args = append(args, "--defect", rep.Defect)
	}
	if rep.Strict {
		args = append(args, "--strict")
	}
	silent, err := withoutTraffic(dir, played)
	if err != nil {
		return "", nil, err
	}
	if silent {
		args = append(args, "--no-traffic")
	}
	for i, arg := range args {
		args[i] = quoted(arg)
	}
	return strings.Join(args, " "), remarks, nil
}

// inBundle is a file of a bundle as the command names it: from where the summary was
// asked for, or by its name alone where that would tell of a user's disk.
func inBundle(dir, file string) string {
	if filepath.IsLocal(dir) {
		return filepath.Join(dir, file)
	}
	return file
}

// startRelease is the release at which all members began, if it is one.
func startRelease(rep *report.ConformanceReport) (release string, same bool) {
	for i, m := range rep.Target.Members {
		if i > 0 && m.Release != release {
			return "", false
		}
		release = m.Release
	}
	return release, release != ""
}

// asked gives the flags that ask for what was to be judged: whole profiles, or
// else single requirements.
func asked(rep *report.ConformanceReport) []string {
	wanted := names(rep.Asked)
	var flags []string
	whole := 0
	for _, p := range rep.Profiles {
		profile, err := requirement.LookupProfile(p.Name)
		if err != nil {
			continue
		}
		flags = append(flags, "--profile", p.Name)
		for _, id := range profile.Requirements {
			if !slices.Contains(wanted, string(id)) {
				return []string{"--focus", "^(" + strings.Join(wanted, "|") + ")$"}
			}
			whole++
		}
	}
	if whole < len(wanted) {
		return []string{"--focus", "^(" + strings.Join(wanted, "|") + ")$"}
	}
	return flags
}

// withoutTraffic is whether the run was told to write nothing, and not by its
// scenario.
func withoutTraffic(dir string, scenario []byte) (bool, error) {
	raw, err := bundle.ReadFile(dir, bundle.EnvironmentFile)
	if err != nil {
		return false, fmt.Errorf("read the environment: %w", err)
	}
	var environment struct {
		Traffic bool `json:"traffic"`
	}
	if err := yaml.Unmarshal(raw, &environment); err != nil {
		return false, fmt.Errorf("the environment cannot be read: %w", err)
	}
	var played struct {
		Traffic struct {
			Off bool `yaml:"off"`
		} `yaml:"traffic"`
	}
	// The key off is a truth value to a reader of YAML 1.1.
	if err := yamlv3.Unmarshal(scenario, &played); err != nil {
		return false, fmt.Errorf("the scenario cannot be read: %w", err)
	}
	return !environment.Traffic && !played.Traffic.Off, nil
}

// quoted is an argument as a shell takes it for one. What is in a history is not
// to become a command of the user who pastes it.
func quoted(arg string) string {
	if strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=") == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(strings.Join(strings.Fields(arg), " "), "'", `'\''`) + "'"
}
