-- What a threshold is: number, text or boolean. One that is a text stands beside that of numbers; true is 1 and false is 0.
ALTER TABLE rules ADD COLUMN operand_type TEXT NOT NULL DEFAULT 'number';
ALTER TABLE rules ADD COLUMN operand_text TEXT;

-- The newest reading that was judged, if it was a text.
ALTER TABLE rules ADD COLUMN seen_text TEXT;

-- What the values of an alert are, and those that are texts. They are told as long as the alert is, whatever becomes of the points.
ALTER TABLE alerts ADD COLUMN value_type TEXT NOT NULL DEFAULT 'number';
ALTER TABLE alerts ADD COLUMN opened_text TEXT;
ALTER TABLE alerts ADD COLUMN cleared_text TEXT;

ALTER TABLE outbox ADD COLUMN value_type TEXT NOT NULL DEFAULT 'number';
ALTER TABLE outbox ADD COLUMN value_text TEXT;
