package pki

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Endpoint is an API server's URL under the name that its context gets.
type Endpoint struct{ Name, URL string }

// WriteKubeconfig writes a file that holds everything needed to reach the
// endpoints as the user of the key pair; the first one is the current context.
// The file is readable by its owner only, as the library takes care of.
func WriteKubeconfig(file string, ca *Authority, user string, pair Pair, endpoints ...Endpoint) error {
	config := clientcmdapi.NewConfig()
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.CertPEM, ClientKeyData: pair.KeyPEM}
	for _, one := range endpoints {
		config.Clusters[one.Name] = &clientcmdapi.Cluster{Server: one.URL, CertificateAuthorityData: ca.PEM()}
		config.Contexts[one.Name] = &clientcmdapi.Context{Cluster: one.Name, AuthInfo: user}
	}
	config.CurrentContext = endpoints[0].Name
	return clientcmd.WriteToFile(*config, file)
}
