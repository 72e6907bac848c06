/**
 * Which field of a protobuf message is which member of a type, by the field's number. A table in place of a name:
 * the message there has no place of its own in the object, its members stand among those of the message around it.
 */
export interface Fields {
  readonly [number: number]: string | Fields;
}
