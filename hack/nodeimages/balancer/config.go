package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// config is as much of the files as this balancer follows.
type config struct {
	// listen is the address to listen at; empty while there is none.
	listen string
	// backends are host:port, in the order of the file.
	backends       []string
	connectTimeout time.Duration
	check          check
}

// check says how a backend's health is found out.
type check struct {
	// path that must answer 200 over TLS; empty does without checking.
	path               string
	timeout, interval  time.Duration
	healthy, unhealthy int
}

func (c config) equal(other config) bool {
	return c.listen == other.listen && c.connectTimeout == other.connectTimeout && c.check == other.check &&
		slices.Equal(c.backends, other.backends)
}

// sources are the files that the bootstrap file names.
type sources struct{ clusters, listeners string }

func readBootstrap(path string) (sources, error) {
	var file struct {
		Resources struct {
			CDS struct {
				Path struct{ Path string } `yaml:"path_config_source"`
			} `yaml:"cds_config"`
			LDS struct {
				Path struct{ Path string } `yaml:"path_config_source"`
			} `yaml:"lds_config"`
		} `yaml:"dynamic_resources"`
	}
	if err := readYAML(path, &file); err != nil {
		return sources{}, err
	}
	from := sources{clusters: file.Resources.CDS.Path.Path, listeners: file.Resources.LDS.Path.Path}
	if from.clusters == "" || from.listeners == "" {
		return sources{}, fmt.Errorf("%s names no files for clusters and listeners: this balancer follows no others", path)
	}
	return from, nil
}

// read reads both files. Files without resources are no error: they say that
// nothing is known yet.
func (s sources) read() (config, error) {
	var c config
	var listeners listenerFile
	if err := readYAML(s.listeners, &listeners); err != nil {
		return c, err
	}
	var clusters clusterFile
	if err := readYAML(s.clusters, &clusters); err != nil {
		return c, err
	}
	if len(listeners.Resources) > 1 || len(clusters.Resources) > 1 {
		return c, errors.New("more than one listener or cluster is configured: this balancer has one of each")
	}
	for _, listener := range listeners.Resources {
		c.listen = listener.Address.String()
	}
	for _, cluster := range clusters.Resources {
		cluster.into(&c)
	}
	return c, nil
}

func readYAML(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return nil
}

type listenerFile struct {
	Resources []struct{ Address address }
}

type clusterFile struct{ Resources []cluster }

type cluster struct {
	ConnectTimeout time.Duration `yaml:"connect_timeout"`
	HealthChecks   []struct {
		Timeout, Interval time.Duration
		Unhealthy         int                   `yaml:"unhealthy_threshold"`
		Healthy           int                   `yaml:"healthy_threshold"`
		HTTP              struct{ Path string } `yaml:"http_health_check"`
	} `yaml:"health_checks"`
	Load struct {
		Endpoints []struct {
			Backends []struct {
				Endpoint struct{ Address address }
			} `yaml:"lb_endpoints"`
		}
	} `yaml:"load_assignment"`
}

type address struct {
	Socket struct {
		Address string
		Port    int `yaml:"port_value"`
	} `yaml:"socket_address"`
}

func (a address) String() string {
	return net.JoinHostPort(a.Socket.Address, strconv.Itoa(a.Socket.Port))
}

func (from cluster) into(c *config) {
	c.connectTimeout = positive(from.ConnectTimeout, defaultConnectTimeout)
	for _, locality := range from.Load.Endpoints {
		for _, backend := range locality.Backends {
			c.backends = append(c.backends, backend.Endpoint.Address.String())
		}
	}
	for _, one := range from.HealthChecks {
		c.check = check{
			path:      one.HTTP.Path,
			timeout:   positive(one.Timeout, defaultCheckTimeout),
			interval:  positive(one.Interval, defaultCheckInterval),
			healthy:   positive(one.Healthy, defaultThreshold),
			unhealthy: positive(one.Unhealthy, defaultThreshold),
		}
	}
}

func positive[T ~int | ~int64](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}
