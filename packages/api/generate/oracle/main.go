// Command oracle answers, line by line, how the Go libraries treat an input; for recording fixtures and comparing.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"sheaf/generate/tables"
)

type request struct {
	Op         string `json:"op"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Text is plain for text operations; Data is base64.
	Text string `json:"text"`
	Data []byte `json:"data"`
}

type answer struct {
	Text   string   `json:"text,omitempty"`
	Data   []byte   `json:"data,omitempty"`
	Strict []string `json:"strict,omitempty"`
	Error  string   `json:"error,omitempty"`
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(input)
	for {
		var line request
		if err := decoder.Decode(&line); err != nil {
			return
		}
		if err := encoder.Encode(reply(line)); err != nil {
			panic(err)
		}
		output.Flush()
	}
}

func reply(line request) (result answer) {
	defer func() {
		if fault := recover(); fault != nil {
			result = answer{Error: fmt.Sprint("panic: ", fault)}
		}
	}()
	var err error
	switch line.Op {
	case "quantity":
		var quantity resource.Quantity
		if quantity, err = resource.ParseQuantity(line.Text); err == nil {
			result.Text = quantity.String()
		}
	case "decode":
		result, err = decodeJSON(line)
	case "protobuf":
		result, err = toProtobuf(line)
	case "unprotobuf":
		result, err = fromProtobuf(line)
	case "labels":
		var selector labels.Selector
		if selector, err = labels.Parse(line.Text); err == nil {
			result.Text = selector.String()
		}
	case "fields":
		var selector fields.Selector
		if selector, err = fields.ParseSelector(line.Text); err == nil {
			result.Text = selector.String()
		}
	case "yaml":
		var data []byte
		data, err = yaml.YAMLToJSONStrict([]byte(line.Text))
		if err != nil {
			result.Strict = []string{err.Error()}
			data, err = yaml.YAMLToJSON([]byte(line.Text))
		}
		result.Text = string(data)
	case "names":
		result.Strict = names(line)
	default:
		result.Error = "unknown operation"
	}
	if err != nil {
		result.Error = err.Error()
	}
	return result
}

func names(line request) []string {
	switch line.Kind {
	case "subdomain":
		return validation.IsDNS1123Subdomain(line.Text)
	case "label":
		return validation.IsDNS1123Label(line.Text)
	case "service":
		return validation.IsDNS1035Label(line.Text)
	case "qualified":
		return validation.IsQualifiedName(line.Text)
	default:
		return validation.IsValidLabelValue(line.Text)
	}
}

func newObject(line request) (runtime.Object, schema.GroupVersionKind, error) {
	version, err := schema.ParseGroupVersion(line.APIVersion)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	kind := version.WithKind(line.Kind)
	if line.Kind == "PartialObjectMetadata" {
		return &metav1.PartialObjectMetadata{}, kind, nil
	}
	object, err := tables.Scheme.New(kind)
	return object, kind, err
}

func decodeJSON(line request) (answer, error) {
	into, kind, err := newObject(line)
	if err != nil {
		return answer{}, err
	}
	options := kjson.SerializerOptions{Strict: true}
	serializer := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, tables.Scheme, tables.Scheme, options)
	object, _, err := serializer.Decode([]byte(line.Text), &kind, into)
	result := answer{}
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, fault := range strict.Errors() {
			result.Strict = append(result.Strict, fault.Error())
		}
		err = nil
	}
	if err != nil {
		return answer{}, err
	}
	return encodeJSON(object, result)
}

func encodeJSON(object runtime.Object, result answer) (answer, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(object)
	result.Text = string(bytes.TrimSpace(buffer.Bytes()))
	return result, err
}

func toProtobuf(line request) (answer, error) {
	into, _, err := newObject(line)
	if err != nil {
		return answer{}, err
	}
	if err := json.Unmarshal([]byte(line.Text), into); err != nil {
		return answer{}, err
	}
	var buffer bytes.Buffer
	err = protobuf.NewSerializer(tables.Scheme, tables.Scheme).Encode(into, &buffer)
	return answer{Data: buffer.Bytes()}, err
}

func fromProtobuf(line request) (answer, error) {
	data := line.Data
	if data == nil {
		data, _ = base64.StdEncoding.DecodeString(line.Text)
	}
	object, kind, err := protobuf.NewSerializer(tables.Scheme, tables.Scheme).Decode(data, nil, nil)
	if err != nil {
		return answer{}, err
	}
	object.GetObjectKind().SetGroupVersionKind(*kind)
	return encodeJSON(object, answer{})
}
