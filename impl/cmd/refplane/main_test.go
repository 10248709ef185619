package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/impl/release"
)

// run executes a command as the shell would, and returns what it printed.
func run(command *cobra.Command, args ...string) (string, error) {
	var out bytes.Buffer
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetOut(&out)
	command.SetErr(&out)
	command.SetArgs(args)
	err := command.Execute()
	return out.String(), err
}

func TestReleasesAsJSON(t *testing.T) {
	out, err := run(releasesCommand(), "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []release.Release
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(release.All()) || rows[0].Ballasts().Encoding != release.V1alpha1 {
		t.Errorf("got %+v", rows)
	}
}

func TestDefectsAsJSON(t *testing.T) {
	out, err := run(defectsCommand(), "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		t.Fatal("there are no defects")
	}
	for _, row := range rows {
		for _, key := range []string{"id", "requirement", "component", "description"} {
			if row[key] == "" {
				t.Errorf("%v lacks %s", row, key)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	complete := []string{
		"--server-id", "a", "--secure-port", "1", "--etcd-servers", "https://127.0.0.1:1",
		"--etcd-cafile", "f", "--etcd-certfile", "f", "--etcd-keyfile", "f",
		"--client-ca-file", "f", "--tls-cert-file", "f", "--tls-private-key-file", "f",
	}
	tests := map[string]struct {
		command *cobra.Command
		args    []string
		says    string
	}{
		"missing flags":    {apiserverCommand(new(stopDelay)), []string{"--release", "1.1"}, "--server-id"},
		"unknown flag":     {etcdCommand(), []string{"--bogus"}, "--bogus"},
		"argument":         {etcdCommand(), []string{"start"}, "start"},
		"unknown release":  {apiserverCommand(new(stopDelay)), append([]string{"--release", "9"}, complete...), "1.1, 1.2"},
		"unknown defect":   {apiserverCommand(new(stopDelay)), append([]string{"--release", "1.1", "--defect", "nonsense"}, complete...), "nonsense"},
		"unknown format":   {releasesCommand(), []string{"-o", "xml"}, "xml"},
		"no kubeconfig":    {controllerManagerCommand(), []string{"--release", "1.1"}, "--kubeconfig"},
		"half an API port": {apiserverCommand(new(stopDelay)), append([]string{"--release", "1.1"}, append(complete, "--secure-port", "0")...), "--secure-port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := run(test.command, test.args...)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want an error about %s", err, test.says)
			}
			if out != "" {
				t.Errorf("it printed %q besides", out)
			}
		})
	}
}

// The process gives an API server the time to serve on before it gives up on its end.
func TestStopDelay_ExtendsTheBound(t *testing.T) {
	var delay stopDelay
	if got := delay.bound(); got != stopBound {
		t.Errorf("without a delay the bound is %s, want %s", got, stopBound)
	}
	_, err := run(apiserverCommand(&delay), "--release", "1.1", "--server-id", "a", "--secure-port", "0", "--etcd-servers", "https://127.0.0.1:1",
		"--etcd-cafile", "f", "--etcd-certfile", "f", "--etcd-keyfile", "f", "--client-ca-file", "f", "--tls-cert-file", "f", "--tls-private-key-file", "f",
		"--shutdown-delay-duration", "7s")
	if got := delay.bound(); err == nil || got != stopBound+7*time.Second {
		t.Errorf("with a delay the bound is %s (%v)", got, err)
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine(errors.New("a\n\tb  c")); got != "a b c" {
		t.Errorf("got %q", got)
	}
}
