package tables

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Field is one field of a struct, in the order of the Go source.
type Field struct {
	JSON   string `json:"json"`
	Go     string `json:"go"`
	Number int    `json:"number,omitempty"`
	// Type is an expression: * pointer, [] list, [w] list wrapped in a message, {Key} map, (Name) a named Go
	// type, # a struct, else a scalar or special type.
	Type          string `json:"type"`
	Inline        bool   `json:"inline,omitempty"`
	OmitEmpty     bool   `json:"omitEmpty,omitempty"`
	OmitZero      bool   `json:"omitZero,omitempty"`
	PatchStrategy string `json:"patchStrategy,omitempty"`
	PatchMergeKey string `json:"patchMergeKey,omitempty"`
}

// Tables maps package keys (core/v1) to struct names to fields.
type Tables struct {
	Structs map[string]map[string][]Field `json:"structs"`
	// Kinds maps apiVersion to kind to the struct (package key and name).
	Kinds map[string]map[string]string `json:"kinds"`
}

var special = map[string]string{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "intOrString",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "microTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "fieldsV1",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "rawExtension",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schemaOrArray",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schemaOrBool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schemaOrStringArray",
}

type marshaler interface{ Marshal() ([]byte, error) }

var marshalerType = reflect.TypeFor[marshaler]()

// Build walks all registered kinds.
func Build() (Tables, error) {
	tables := Tables{Structs: map[string]map[string][]Field{}, Kinds: map[string]map[string]string{}}
	for _, version := range append(Versions, metav1.SchemeGroupVersion) {
		kinds := map[string]string{}
		for kind, goType := range Scheme.KnownTypes(version) {
			if _, ok := goType.FieldByName("TypeMeta"); !ok && kind != "WatchEvent" {
				continue
			}
			if strings.HasPrefix(kind, "Internal") || goType.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/internalversion" {
				continue
			}
			kinds[kind] = packageKey(goType.PkgPath()) + "." + goType.Name()
			if err := tables.add(goType); err != nil {
				return tables, err
			}
		}
		tables.Kinds[version.String()] = kinds
	}
	for _, goType := range []reflect.Type{
		reflect.TypeFor[metav1.List](), reflect.TypeFor[metav1.PartialObjectMetadata](),
		reflect.TypeFor[metav1.PartialObjectMetadataList](), reflect.TypeFor[metav1.Table](),
		reflect.TypeFor[metav1.TableOptions](), reflect.TypeFor[metav1.APIGroup](), reflect.TypeFor[metav1.APIGroupList](),
		reflect.TypeFor[metav1.APIResourceList](), reflect.TypeFor[metav1.APIVersions](), reflect.TypeFor[metav1.Status](),
	} {
		if err := tables.add(goType); err != nil {
			return tables, err
		}
	}
	return tables, nil
}

func (t *Tables) add(goType reflect.Type) error {
	key := packageKey(goType.PkgPath())
	if t.Structs[key] == nil {
		t.Structs[key] = map[string][]Field{}
	}
	if _, done := t.Structs[key][goType.Name()]; done {
		return nil
	}
	t.Structs[key][goType.Name()] = nil
	fields := []Field{}
	for i := range goType.NumField() {
		field, err := t.field(goType.Field(i))
		if err != nil {
			return fmt.Errorf("%s.%s: %w", goType, goType.Field(i).Name, err)
		}
		if field != nil {
			if !reflect.PointerTo(goType).Implements(marshalerType) {
				field.Number = 0
			}
			fields = append(fields, *field)
		}
	}
	t.Structs[key][goType.Name()] = fields
	return nil
}

func (t *Tables) field(source reflect.StructField) (*Field, error) {
	options := strings.Split(source.Tag.Get("json"), ",")
	if options[0] == "-" || !source.IsExported() {
		return nil, nil
	}
	field := &Field{JSON: options[0], Go: source.Name}
	for _, option := range options[1:] {
		switch option {
		case "omitempty":
			field.OmitEmpty = true
		case "omitzero":
			field.OmitZero = true
		}
	}
	field.Inline = source.Anonymous && options[0] == ""
	if field.JSON == "" && !field.Inline {
		field.JSON = source.Name
	}
	if tag := source.Tag.Get("protobuf"); tag != "" && tag != "-" {
		parts := strings.Split(tag, ",")
		number, err := strconv.Atoi(parts[1])
		if err != nil {
			return nil, err
		}
		// The wire type in the tag is wrong in places; it follows from the Go type.
		field.Number = number
	}
	field.PatchStrategy = source.Tag.Get("patchStrategy")
	field.PatchMergeKey = source.Tag.Get("patchMergeKey")
	var err error
	field.Type, err = t.expression(source.Type)
	return field, err
}

func (t *Tables) expression(goType reflect.Type) (string, error) {
	if name, ok := special[goType.PkgPath()+"."+goType.Name()]; ok {
		return name, t.addSchemaOfUnion(goType, name)
	}
	named := ""
	if goType.PkgPath() != "" && goType.Kind() != reflect.Struct {
		named = "(" + goType.String() + ")"
	}
	switch goType.Kind() {
	case reflect.Pointer:
		inner, err := t.expression(goType.Elem())
		return "*" + inner, err
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return named + "bytes", nil
		}
		inner, err := t.expression(goType.Elem())
		if named != "" && goType.Implements(marshalerType) {
			return named + "[w]" + inner, err
		}
		return named + "[]" + inner, err
	case reflect.Map:
		key := ""
		if goType.Key().PkgPath() != "" {
			key = goType.Key().String()
		}
		if goType.Key().Kind() != reflect.String {
			return "", fmt.Errorf("map key %s", goType.Key())
		}
		inner, err := t.expression(goType.Elem())
		return named + "{" + key + "}" + inner, err
	case reflect.Struct:
		return "#" + packageKey(goType.PkgPath()) + "." + goType.Name(), t.add(goType)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Int, reflect.Uint32, reflect.Uint64:
		return named + goType.Kind().String(), nil
	case reflect.Interface:
		return "any", nil
	default:
		return "", fmt.Errorf("no expression for %s", goType)
	}
}

func (t *Tables) addSchemaOfUnion(goType reflect.Type, name string) error {
	if strings.HasPrefix(name, "schemaOr") {
		field, _ := goType.FieldByName("Schema")
		if field.Type == nil {
			return nil
		}
		return t.add(field.Type.Elem())
	}
	return nil
}

// packageKey shortens an import path to group/version.
func packageKey(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}
