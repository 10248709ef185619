package workload

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Folder holds the workloads, in the fixtures.
const Folder = "workloads"

// Entries declare the workloads of the fixtures, each by its file, which is all that there is to
// add of one.
func Entries(fixtures fs.FS) ([]registry.Entry, error) {
	files, err := fs.Glob(fixtures, Folder+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []registry.Entry
	for _, file := range files {
		raw, err := fs.ReadFile(fixtures, file)
		if err != nil {
			return nil, err
		}
		w, err := Parse(file, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, w.entry(path.Base(file), registry.HeadComment(raw)))
	}
	return out, nil
}

// objectCost is about how long it takes to write an object through a member.
const objectCost = 5 * time.Millisecond

// entry declares the workload. Its parameters are those of what uses it: traffic, and populations.
func (w *Workload) entry(file, doc string) registry.Entry {
	aggregated := w.Spec.class() == history.ClassAggregated
	var needs []cluster.Ability
	if aggregated {
		needs = []cluster.Ability{cluster.HostsAggregated}
	}
	return registry.Entry{
		Needs: needs,
		Kind:  registry.Workload, Name: file, Doc: doc,
		Parameters: []registry.Parameter{
			{Name: "share", Optional: true, Domain: registry.Rate("", 0.01, 1, 0.1, 0.5, 1),
				Doc: "is the part of its rates at which traffic writes and reads, as traffic.share has it"},
			{Name: "count", Optional: true, Domain: registry.Count(1, 150_000, 1, 30, 501, 2000), Doc: "is how many objects a populate step makes of it"},
		},
		Resource: registry.Resource{
			Group: w.Spec.Group, Resource: w.Spec.Resource, Versions: slices.Sorted(maps.Keys(w.Spec.Versions)),
			Custom: w.Spec.class() == history.ClassCustom, Aggregated: aggregated,
		},
		Cost: func(values registry.Values) time.Duration {
			count, _ := values["count"].(int)
			return time.Duration(count) * objectCost
		},
	}
}

// Reference describes the workloads of the fixtures, in Markdown.
func Reference(fixtures fs.FS) (string, error) {
	entries, err := Entries(fixtures)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, entry := range entries {
		b.WriteString(describe(entry))
	}
	return b.String(), nil
}

// ReferenceOf describes one workload; ok is false where there is none of the name.
func ReferenceOf(fixtures fs.FS, name string) (text string, ok bool, err error) {
	entries, err := Entries(fixtures)
	for _, entry := range entries {
		if entry.Name == name || strings.TrimSuffix(entry.Name, ".yaml") == name {
			return describe(entry), true, nil
		}
	}
	return "", false, err
}

func describe(entry registry.Entry) string {
	of := entry.Resource
	name, made := of.Resource, "built in"
	if of.Group != "" {
		name += "." + of.Group
	}
	if of.Aggregated {
		made = "stored by the members' aggregated servers, to which a `proxyAggregated` step has API servers proxy requests"
	}
	if of.Custom {
		made = "a custom resource, which a `registerAPI` step has to define"
	}
	return fmt.Sprintf("%s%s`\n\n%s\n\n- writes `%s` in %s, %s\n\n", registry.Heading, entry.Name, entry.Doc, name, strings.Join(of.Versions, ", "), made)
}
