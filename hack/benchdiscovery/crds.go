package main

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// vendorDomain ends the groups of all custom resources of this program.
const vendorDomain = "bench.example.com"

// kindsPerGroup is how many CRDs share a group, as the parts of one product do.
const kindsPerGroup = 10

// The words that names are made of: as many as it takes that no two kinds of a
// group are called the same, and that names do not only differ by a number,
// which would compress better than names do.
var (
	products = []string{"backup", "billing", "cache", "certificate", "compute", "database", "gateway", "identity", "ledger", "messaging",
		"mesh", "monitoring", "network", "pipeline", "policy", "registry", "search", "secret", "storage", "workflow"}
	vendors = []string{"acorn", "birch", "cedar", "dune", "ember", "fjord", "grove", "harbor", "islet", "juniper", "kestrel", "lagoon", "meadow", "nimbus", "osprey"}
	traits  = []string{"managed", "shared", "regional", "global", "scheduled", "external", "private", "composite", "virtual", "federated"}
	things  = []string{"instance", "cluster", "binding", "claim", "template", "profile", "replica", "endpoint", "account", "schedule",
		"snapshot", "volume", "route", "quota", "trigger", "release", "catalog"}
)

// groupOf is the group of the CRD of a number, without regard to what else is in
// it.
func groupOf(number int) string {
	group := number / kindsPerGroup
	name := fmt.Sprintf("%s.%s", products[group%len(products)], vendors[group/len(products)%len(vendors)])
	if again := group / (len(products) * len(vendors)); again > 0 {
		name = fmt.Sprintf("%s%d", name, again+1)
	}
	return name + "." + vendorDomain
}

// beta is whether the CRD of a number is also served in an older version, as
// those of every third group are.
func beta(number int) bool { return number/kindsPerGroup%3 == 0 }

// specimen is the CRD of a number. It has what CRDs in use have: columns, short
// names, a status, a schema with descriptions, and for some a scale and a second
// version.
func specimen(number int) *apiextensionsv1.CustomResourceDefinition {
	trait, thing := traits[number%kindsPerGroup], things[(number*7+number/kindsPerGroup)%len(things)]
	return definition(groupOf(number), trait, thing, number, beta(number))
}

func definition(group, trait, thing string, number int, beta bool) *apiextensionsv1.CustomResourceDefinition {
	singular := trait + thing
	names := apiextensionsv1.CustomResourceDefinitionNames{
		Plural: singular + "s", Singular: singular,
		Kind: title(trait) + title(thing), ListKind: title(trait) + title(thing) + "List",
		ShortNames: []string{trait[:1] + thing[:3]},
		Categories: []string{"all", strings.Split(group, ".")[0]},
	}
	scope := apiextensionsv1.NamespaceScoped
	if number%5 == 0 {
		scope = apiextensionsv1.ClusterScoped
	}
	versions := []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", names.Kind, true, number)}
	if beta {
		versions = append(versions, version("v1beta1", names.Kind, false, number))
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: names.Plural + "." + group},
		Spec:       apiextensionsv1.CustomResourceDefinitionSpec{Group: group, Names: names, Scope: scope, Versions: versions},
	}
}

func version(name, kind string, stored bool, number int) apiextensionsv1.CustomResourceDefinitionVersion {
	v := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Storage: stored,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema(kind)},
		Subresources: &apiextensionsv1.CustomResourceSubresources{
			Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
		},
		AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{
			{Name: "Ready", Type: "string", JSONPath: `.status.conditions[?(@.type=="Ready")].status`},
			{Name: "Replicas", Type: "integer", JSONPath: ".spec.replicas", Priority: 1},
			{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
		},
	}
	if number%4 == 0 {
		v.Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}
	}
	return v
}

func schema(kind string) *apiextensionsv1.JSONSchemaProps {
	text := func(about string) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "string", Description: about}
	}
	replicas := apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int32", Minimum: ptr.To(0.0), Description: "How many there are to be."}
	condition := apiextensionsv1.JSONSchemaProps{
		Type: "object", Required: []string{"type", "status"},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"type": text("What the condition is about."), "status": text("True, False or Unknown."),
			"reason": text("Why, in one word."), "message": text("Why, for people."),
			"lastTransitionTime": {Type: "string", Format: "date-time"},
		},
	}
	return &apiextensionsv1.JSONSchemaProps{
		Type: "object", Description: kind + " is one of the things that an operator looks after.", Required: []string{"spec"},
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"apiVersion": {Type: "string"}, "kind": {Type: "string"}, "metadata": {Type: "object"},
			"spec": {
				Type: "object", Description: "What is wanted.",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"region": text("Where it is to be."), "class": text("Which class of " + kind + " it is to be of."),
					"replicas": replicas,
					"parameters": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
						Allows: true, Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"},
					}},
				},
			},
			"status": {
				Type: "object", Description: "What there is.",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"replicas":   replicas,
					"conditions": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &condition}},
				},
			},
		},
	}
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
