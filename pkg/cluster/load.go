package cluster

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// LoadTopology reads and validates a topology file, or one that ships with
// Evenkeel under the same path. A key that it does not
// know is an error, because a misspelled setting would otherwise be judged as
// if it had been made.
func LoadTopology(file string) (*Topology, error) {
	raw, err := clusters.Read(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the topology: %w", err)
	}
	return ParseTopology(file, raw)
}

// ParseTopology is LoadTopology for content that was read already; file is
// what messages call it.
func ParseTopology(file string, raw []byte) (*Topology, error) {
	// The kind is looked at first and leniently: a user who confuses two files
	// should hear that, not that every key of the other kind is unknown.
	var header struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
	}
	if yaml.Unmarshal(raw, &header) == nil && (header.APIVersion != APIVersion || header.Kind != TopologyKind) {
		return nil, &TopologyError{File: file, Problems: []string{
			fmt.Sprintf("is a %q of %q, but a %q of %q is needed", header.Kind, header.APIVersion, TopologyKind, APIVersion),
		}}
	}
	topology := &Topology{File: file}
	if err := strictyaml.Decode(file, raw, topology); err != nil {
		return nil, &TopologyError{File: file, Problems: strings.Split(err.Error(), "\n")}
	}
	if topology.Spec.Distribution == "" {
		topology.Spec.Distribution = DefaultDistribution
		if topology.ExternallyManaged() {
			topology.Spec.Distribution = ForeignDistribution
		}
	}
	if err := topology.Validate(); err != nil {
		return nil, err
	}
	return topology, nil
}
