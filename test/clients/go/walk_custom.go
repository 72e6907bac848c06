package main

import (
	"context"
	"errors"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

var customSteps = []step{
	{"a definition is established", func(ctx context.Context, w *walker) error {
		definitions := w.extensions.ApiextensionsV1().CustomResourceDefinitions()
		made, err := definitions.Create(ctx, widgetDefinition(w), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		seen, err := definitions.Watch(ctx, named(made.Name))
		if err != nil {
			return err
		}
		return until(ctx, seen, func(event watch.Event) bool {
			for _, condition := range event.Object.(*extensions.CustomResourceDefinition).Status.Conditions {
				if condition.Type == extensions.Established && condition.Status == extensions.ConditionTrue {
					return true
				}
			}
			return false
		})
	}},
	{"a custom object is defaulted, pruned and checked", func(ctx context.Context, w *walker) error {
		client := w.dynamic.Resource(w.widgets).Namespace(w.namespace)
		made, err := client.Create(ctx, w.widget("good", map[string]any{"size": int64(3), "unknown": "x"}), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		_, tooBig := client.Create(ctx, w.widget("big", map[string]any{"size": int64(99)}), metav1.CreateOptions{})
		_, byRule := client.Create(ctx, w.widget("odd", map[string]any{"size": int64(7)}), metav1.CreateOptions{})
		_, unknown := client.Create(ctx, w.widget("strict", map[string]any{"size": int64(3), "unknown": "x"}), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		color, _, _ := unstructured.NestedString(made.Object, "spec", "color")
		_, isKept, _ := unstructured.NestedString(made.Object, "spec", "unknown")
		return errors.Join(
			expect("the default", color, "grey"),
			expectThat("the unknown field is dropped", !isKept),
			expectThat("a value above the maximum is invalid", apierrors.IsInvalid(tooBig)),
			expectThat("a rule makes a value invalid", apierrors.IsInvalid(byRule)),
			expectThat("strictly, an unknown field is a bad request", apierrors.IsBadRequest(unknown)),
		)
	}},
	{"a status is written apart and does not raise the generation", func(ctx context.Context, w *walker) error {
		client := w.dynamic.Resource(w.widgets).Namespace(w.namespace)
		found, err := client.Get(ctx, "good", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedField(found.Object, "done", "status", "phase"); err != nil {
			return err
		}
		if err := unstructured.SetNestedField(found.Object, int64(5), "spec", "size"); err != nil {
			return err
		}
		written, err := client.UpdateStatus(ctx, found, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		patched, err := client.Patch(ctx, "good", types.MergePatchType, []byte(`{"spec":{"size":4},"status":{"phase":"lost"}}`), metav1.PatchOptions{})
		if err != nil {
			return err
		}
		phase, _, _ := unstructured.NestedString(patched.Object, "status", "phase")
		size, _, _ := unstructured.NestedInt64(written.Object, "spec", "size")
		return errors.Join(
			expect("the generation after the status", written.GetGeneration(), 1),
			expect("the size after the status", size, 3),
			expect("the generation after the patch", patched.GetGeneration(), 2),
			expect("the phase", phase, "done"),
		)
	}},
	{"a dynamic informer follows custom objects", func(ctx context.Context, w *walker) error {
		running, cancel := context.WithCancel(ctx)
		defer cancel()
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(w.dynamic, 0, w.namespace, nil)
		informer := factory.ForResource(w.widgets).Informer()
		added := make(chan string, 10)
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
			added <- object.(*unstructured.Unstructured).GetName()
		}})
		if err != nil {
			return err
		}
		factory.Start(running.Done())
		factory.WaitForCacheSync(running.Done())
		if _, err := w.dynamic.Resource(w.widgets).Namespace(w.namespace).Create(ctx, w.widget("later", map[string]any{"size": int64(1)}), metav1.CreateOptions{}); err != nil {
			return err
		}
		for _, want := range []string{"good", "later"} {
			select {
			case name := <-added:
				if err := expect("the object seen", name, want); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}},
	{"a definition goes with its objects", func(ctx context.Context, w *walker) error {
		definitions := w.extensions.ApiextensionsV1().CustomResourceDefinitions()
		seen, err := definitions.Watch(ctx, named(w.widgets.GroupResource().String()))
		if err != nil {
			return err
		}
		if err := definitions.Delete(ctx, w.widgets.GroupResource().String(), metav1.DeleteOptions{}); err != nil {
			return err
		}
		return until(ctx, seen, func(event watch.Event) bool { return event.Type == watch.Deleted })
	}},
}

func (w *walker) widget(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": w.widgets.GroupVersion().String(),
		"kind":       "Widget",
		"metadata":   map[string]any{"name": name},
		"spec":       spec,
	}}
}

func widgetDefinition(w *walker) *extensions.CustomResourceDefinition {
	largest := 10.0
	grey := extensions.JSON{Raw: []byte(`"grey"`)}
	spec := extensions.JSONSchemaProps{
		Type: "object",
		Properties: map[string]extensions.JSONSchemaProps{
			"size":  {Type: "integer", Maximum: &largest},
			"color": {Type: "string", Default: &grey},
		},
		XValidations: extensions.ValidationRules{{Rule: "self.size != 7", Message: "seven is odd"}},
	}
	status := extensions.JSONSchemaProps{Type: "object", Properties: map[string]extensions.JSONSchemaProps{"phase": {Type: "string"}}}
	return &extensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: w.widgets.GroupResource().String()},
		Spec: extensions.CustomResourceDefinitionSpec{
			Group: w.widgets.Group,
			Names: extensions.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Scope: extensions.NamespaceScoped,
			Versions: []extensions.CustomResourceDefinitionVersion{{
				Name: w.widgets.Version, Served: true, Storage: true,
				Subresources: &extensions.CustomResourceSubresources{Status: &extensions.CustomResourceSubresourceStatus{}},
				Schema: &extensions.CustomResourceValidation{OpenAPIV3Schema: &extensions.JSONSchemaProps{
					Type:       "object",
					Properties: map[string]extensions.JSONSchemaProps{"spec": spec, "status": status},
				}},
			}},
		},
	}
}
