package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

var discoverySteps = []step{
	{"the server tells a version that client-go can read", func(_ context.Context, w *walker) error {
		version, err := w.kube.Discovery().ServerVersion()
		if err != nil {
			return err
		}
		return expectThat("the version begins with v1: "+version.GitVersion, strings.HasPrefix(version.GitVersion, "v1."))
	}},
	{"discovery names the preferred resources", func(_ context.Context, w *walker) error {
		lists, err := w.kube.Discovery().ServerPreferredResources()
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for _, list := range lists {
			for _, resource := range list.APIResources {
				found[list.GroupVersion+"/"+resource.Name] = true
			}
		}
		for _, name := range []string{"v1/configmaps", "v1/pods", "coordination.k8s.io/v1/leases", "apiextensions.k8s.io/v1/customresourcedefinitions"} {
			if !found[name] {
				return fmt.Errorf("%s is not among them", name)
			}
		}
		return nil
	}},
	{"a REST mapper finds the resource of a kind", func(_ context.Context, w *walker) error {
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.kube.Discovery()))
		mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"})
		if err != nil {
			return err
		}
		return expect("the resource", mapping.Resource.String(), "coordination.k8s.io/v1, Resource=leases")
	}},
	{"a short name is found by the expander", func(_ context.Context, w *walker) error {
		cached := memory.NewMemCacheClient(w.kube.Discovery())
		mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
		kind, err := mapper.KindFor(schema.GroupVersionResource{Resource: "cm"})
		if err != nil {
			return err
		}
		return expect("the kind", kind.Kind, "ConfigMap")
	}},
}
