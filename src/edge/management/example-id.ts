/** An id for examples; no object has it. */
export const EXAMPLE_ID = '00000000-0000-8000-8000-000000000000';
