import type { JsonObject } from '@sheaf/base';
import {
  any,
  boolean,
  double,
  encodeDocument,
  type FieldWriter,
  integer,
  type MessageWriter,
  message,
  nested,
  pairs,
  referenceOr,
  repeated,
  string,
} from './document-message.ts';

/** An OpenAPI 3.0 document as `openapi.v3.Document` of gnostic. */
export function encodeV3Document(document: JsonObject): Uint8Array {
  return encodeDocument(documentMessage, document);
}

const schemaOrReference = referenceOr(nested(() => schema));
const aSchema = nested(() => schemaOrReference);

/** A list of schemas is told as one. */
const items: FieldWriter = nested(() => (wire, value) => aSchema(wire, 1, value));

const additionalProperties: FieldWriter = nested(
  () => (wire, value) =>
    typeof value === 'boolean' ? boolean(wire, 2, value) : nested(() => schemaOrReference)(wire, 1, value),
);

/** The message knows plain values alone: for others it is there, and empty. */
const defaultValue: FieldWriter = (wire, number, value) => {
  const write: FieldWriter = nested(() => (inner) => {
    if (typeof value === 'number') double(inner, 1, value);
    else if (typeof value === 'boolean') boolean(inner, 2, value);
    else if (typeof value === 'string') string(inner, 3, value);
  });
  write(wire, number, value);
};

const schema: MessageWriter = message(
  {
    nullable: [1, boolean],
    externalDocs: [6, nested(() => externalDocs)],
    example: [7, any],
    title: [9, string],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, boolean],
    minimum: [13, double],
    exclusiveMinimum: [14, boolean],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, string],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, boolean],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, repeated(string)],
    enum: [24, repeated(any)],
    type: [25, string],
    allOf: [26, repeated(aSchema)],
    oneOf: [27, repeated(aSchema)],
    anyOf: [28, repeated(aSchema)],
    not: [29, nested(() => schema)],
    items: [30, items],
    properties: [31, nested(() => pairs(1, aSchema))],
    additionalProperties: [32, additionalProperties],
    default: [33, defaultValue],
    description: [34, string],
    format: [35, string],
  },
  36,
);

const externalDocs = message({ description: [1, string], url: [2, string] }, 3);
const mediaType = message({ schema: [1, aSchema] }, 5);
const content = nested(() =>
  pairs(
    1,
    nested(() => mediaType),
  ),
);

const parameter = message(
  {
    name: [1, string],
    in: [2, string],
    description: [3, string],
    required: [4, boolean],
    schema: [10, aSchema],
  },
  14,
);
const parameters = repeated(nested(() => referenceOr(nested(() => parameter))));

const body = message({ description: [1, string], content: [2, content], required: [3, boolean] }, 4);
const response = message({ description: [1, string], content: [3, content] }, 5);

const operation = message(
  {
    tags: [1, repeated(string)],
    description: [3, string],
    operationId: [5, string],
    parameters: [6, parameters],
    requestBody: [7, nested(() => referenceOr(nested(() => body)))],
    responses: [
      8,
      nested(() =>
        pairs(
          2,
          nested(() => referenceOr(nested(() => response))),
        ),
      ),
    ],
    deprecated: [10, boolean],
  },
  13,
);
const anOperation = nested(() => operation);

const pathItem = message(
  {
    get: [4, anOperation],
    put: [5, anOperation],
    post: [6, anOperation],
    delete: [7, anOperation],
    options: [8, anOperation],
    head: [9, anOperation],
    patch: [10, anOperation],
    parameters: [13, parameters],
  },
  14,
);

const securityScheme = message(
  { type: [1, string], description: [2, string], name: [3, string], in: [4, string] },
  9,
);

const components = message({
  schemas: [1, nested(() => pairs(1, aSchema))],
  securitySchemes: [
    7,
    nested(() =>
      pairs(
        1,
        nested(() => referenceOr(nested(() => securityScheme))),
      ),
    ),
  ],
});

const documentMessage = message({
  openapi: [1, string],
  info: [2, nested(() => message({ title: [1, string], version: [6, string] }))],
  paths: [
    4,
    nested(() =>
      pairs(
        1,
        nested(() => pathItem),
      ),
    ),
  ],
  components: [5, nested(() => components)],
});
