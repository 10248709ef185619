package apiserver

import (
	"maps"

	extensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	aggregatoropenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"

	"github.com/evenkeel/evenkeel/impl/apis/openapi"
)

// definitions are the schemas of everything that this process serves by itself.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := extensionsopenapi.GetOpenAPIDefinitions(ref)
	maps.Copy(all, aggregatoropenapi.GetOpenAPIDefinitions(ref))
	maps.Copy(all, openapi.GetOpenAPIDefinitions(ref))
	return all
}

// describe makes a server describe its API; server-side apply works from the
// same description.
func describe(config *genericapiserver.Config, schemes ...*runtime.Scheme) {
	namer := openapinamer.NewDefinitionNamer(schemes...)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	config.OpenAPIConfig.Info.Title = title
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	config.OpenAPIV3Config.Info.Title = title
}

// title is what the description calls the API.
const title = "Evenkeel reference control plane"
