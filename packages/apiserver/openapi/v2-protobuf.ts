import { isJsonObject, type JsonObject } from '@sheaf/base';
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

/** A Swagger 2.0 document as `openapi.v2.Document` of gnostic. */
export function encodeV2Document(document: JsonObject): Uint8Array {
  return encodeDocument(documentMessage, document);
}

const aSchema = nested(() => schema);

/** A message with one field. */
function wrapped(number: number, write: FieldWriter): FieldWriter {
  return nested(() => (wire, value) => write(wire, number, value));
}

const additionalProperties: FieldWriter = nested(
  () => (wire, value) => (typeof value === 'boolean' ? boolean(wire, 2, value) : aSchema(wire, 1, value)),
);

const schema: MessageWriter = message(
  {
    $ref: [1, string],
    format: [2, string],
    title: [3, string],
    description: [4, string],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, boolean],
    minimum: [9, double],
    exclusiveMinimum: [10, boolean],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, string],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, boolean],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, repeated(string)],
    enum: [20, repeated(any)],
    additionalProperties: [21, additionalProperties],
    type: [22, wrapped(1, string)],
    items: [23, wrapped(1, aSchema)],
    allOf: [24, repeated(aSchema)],
    properties: [25, nested(() => pairs(1, aSchema))],
    externalDocs: [29, nested(() => message({ description: [1, string], url: [2, string] }, 3))],
    example: [30, any],
  },
  31,
);

const bodyParameter = message(
  {
    description: [1, string],
    name: [2, string],
    in: [3, string],
    required: [4, boolean],
    schema: [5, aSchema],
  },
  6,
);
const sharedFields = {
  required: [1, boolean],
  in: [2, string],
  description: [3, string],
  name: [4, string],
} as const;
const queryParameter = message({ ...sharedFields, type: [6, string], uniqueItems: [20, boolean] }, 23);
const pathParameter = message({ ...sharedFields, type: [5, string], uniqueItems: [19, boolean] }, 22);

const parameter: MessageWriter = (wire, value) => {
  const place = isJsonObject(value) ? value['in'] : undefined;
  if (place === 'body') return nested(() => bodyParameter)(wire, 1, value);
  const [number, form] = place === 'path' ? ([4, pathParameter] as const) : ([3, queryParameter] as const);
  wrapped(
    number,
    nested(() => form),
  )(wire, 2, value);
};
const parameters = repeated(nested(() => referenceOr(nested(() => parameter))));

const response = message({ description: [1, string], schema: [2, wrapped(1, aSchema)] }, 5);

const operation = message(
  {
    tags: [1, repeated(string)],
    description: [3, string],
    operationId: [5, string],
    produces: [6, repeated(string)],
    consumes: [7, repeated(string)],
    parameters: [8, parameters],
    responses: [
      9,
      nested(() =>
        pairs(
          1,
          nested(() => referenceOr(nested(() => response))),
        ),
      ),
    ],
    schemes: [10, repeated(string)],
    deprecated: [11, boolean],
  },
  13,
);
const anOperation = nested(() => operation);

const pathItem = message(
  {
    get: [2, anOperation],
    put: [3, anOperation],
    post: [4, anOperation],
    delete: [5, anOperation],
    options: [6, anOperation],
    head: [7, anOperation],
    patch: [8, anOperation],
    parameters: [9, parameters],
  },
  10,
);

const apiKey = message(
  { type: [1, string], name: [2, string], in: [3, string], description: [4, string] },
  5,
);

const documentMessage = message({
  swagger: [1, string],
  info: [2, nested(() => message({ title: [1, string], version: [2, string] }))],
  paths: [
    8,
    nested(() =>
      pairs(
        2,
        nested(() => pathItem),
      ),
    ),
  ],
  definitions: [9, nested(() => pairs(1, aSchema))],
  parameters: [
    10,
    nested(() =>
      pairs(
        1,
        nested(() => parameter),
      ),
    ),
  ],
  security: [12, repeated(nested(() => pairs(1, wrapped(1, repeated(string)))))],
  securityDefinitions: [
    13,
    nested(() =>
      pairs(
        1,
        wrapped(
          2,
          nested(() => apiKey),
        ),
      ),
    ),
  ],
});
