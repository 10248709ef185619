package credential

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeadmToken is a bootstrap token, and kubeadmKey the key by which kubeadm has
// certificates encrypted, both as its configuration has them.
var (
	kubeadmToken = regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`)
	kubeadmKey   = regexp.MustCompile(`\b[a-f0-9]{64}\b`)
)

// File is what a file holds of credentials, whichever it is of a PEM file, a
// kubeconfig and a configuration of kubeadm; none where it is another one. It fails
// where a kubeconfig cannot be read.
func File(what string, content []byte) ([]Credential, error) {
	if bytes.Contains(content, []byte("\nkind: Config\n")) || bytes.HasPrefix(content, []byte("kind: Config\n")) {
		config, err := clientcmd.Load(content)
		if err != nil {
			// What is wrong with it might show what is in it.
			return nil, fmt.Errorf("%s cannot be read as a kubeconfig", what)
		}
		return Kubeconfig(what, config), nil
	}
	if bytes.Contains(content, []byte("kubeadm.k8s.io/")) {
		return kubeadm(what, content), nil
	}
	return Keys("the private key "+what, content), nil
}

// Kubeconfig is what a kubeconfig holds of credentials itself, without the files that
// it names.
func Kubeconfig(what string, config *clientcmdapi.Config) []Credential {
	var all []Credential
	for _, name := range slices.Sorted(maps.Keys(config.AuthInfos)) {
		user := config.AuthInfos[name]
		of := fmt.Sprintf(" of %s in %s", name, what)
		all = Merge(all, Keys("the client key"+of, user.ClientKeyData)...)
		all = Merge(all, Token("the token"+of, user.Token), Token("the password"+of, user.Password))
		if user.AuthProvider != nil {
			all = Merge(all, Provider(of, user.AuthProvider)...)
		}
	}
	return all
}

// Provider is what the settings of an authentication provider hold. Of says whose they
// are.
func Provider(of string, provider *clientcmdapi.AuthProviderConfig) []Credential {
	var all []Credential
	for _, key := range slices.Sorted(maps.Keys(provider.Config)) {
		if strings.Contains(key, "token") || strings.Contains(key, "secret") {
			all = append(all, Token("the "+key+of, provider.Config[key]))
		}
	}
	return all
}

func kubeadm(what string, content []byte) []Credential {
	var all []Credential
	for _, token := range kubeadmToken.FindAll(content, -1) {
		all = append(all, Token("the bootstrap token in "+what, string(token)))
	}
	for line := range bytes.Lines(content) {
		if bytes.Contains(line, []byte("certificateKey:")) {
			if key := kubeadmKey.Find(line); key != nil {
				all = append(all, Token("the certificate key in "+what, string(key)))
			}
		}
	}
	return Merge(nil, all...)
}
