package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/fixtures"
)

func writeScenario(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bundle", "scenario.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const wholeHead = `apiVersion: evenkeel.dev/v1alpha1
kind: Scenario
metadata: {name: whole}
description: Has its fault in itself.
judges: [RO-01]
traffic: {workloads: [configmaps.yaml]}
`

func TestLoadOver_ScenarioDefinesItsFaults(t *testing.T) {
	file := writeScenario(t, wholeHead+`faults:
  mine:
    apiVersion: chaos-mesh.org/v1alpha1
    kind: PodChaos
    metadata: {name: mine}
    spec:
      action: pod-failure
      mode: one
      duration: 3s
      selector:
        namespaces: [kube-system]
        labelSelectors: {component: kube-apiserver, evenkeel.dev/member: "@member"}
steps:
  - pause: {member: "@cp1", fault: mine}
  - crash: {member: "@cp1", fault: apiserver-crash.yaml}
`)
	s, err := LoadOver(fixtures.Files, file)
	if err != nil {
		t.Fatal(err)
	}
	if s.Faults["mine"].Duration.Seconds() != 3 || s.Faults["apiserver-crash.yaml"] == nil || len(s.Workloads) != 1 || s.CRD == nil {
		t.Errorf("read %+v", s)
	}
}

func TestLoadOver_DefinedFaultIsCheckedLikeAFile(t *testing.T) {
	for _, text := range []string{"{kind: PodChaos}", "slow-etcd.yaml"} {
		file := writeScenario(t, wholeHead+"faults:\n  mine: "+text+"\nsteps:\n  - pause: {member: \"@cp1\", fault: mine}\n")
		if _, err := LoadOver(fixtures.Files, file); err == nil || !strings.Contains(err.Error(), "faults.mine") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
