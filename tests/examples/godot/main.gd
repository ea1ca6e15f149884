# Drops a ball on the ground of a Farlands world, and compares its height at rest with the server's
# height of that place. For Godot 3, also without a screen:
#
#     FARLANDS_URL=http://127.0.0.1:8080/default godot3-server --path tests/examples/godot
#
# FARLANDS_X and FARLANDS_Y set the block to start from (0, 0). Exits with 0, or with 1 and the reason.
#
# A scene's coordinates are floats, which are wrong by whole blocks far out. So the scene has an origin
# of its own, at a block and a height of the world, and all its numbers are small. East is +x, south
# +z, up +y; a block is a metre.
extends Spatial

const SIDE = 33  # samples; in a height map they are one unit apart, around the middle of its shape
const RADIUS = 0.5
# The ball falls on this block, relative to the scene's origin, from DROP metres above the ground. Not in
# the middle, where a mirrored ground would have the same height.
const EAST = 5
const SOUTH = -9
const DROP = 3.0
const SLOPE = 0.05  # the block's maximum

# The accepted error in metres, in addition to tolerance(). The scene's floats and JSON lose less than a
# millimetre. The rest is due to Bullet, which stops pushing when shapes barely overlap.
const TOUCH = 0.004

var url = OS.get_environment("FARLANDS_URL")
var near = [OS.get_environment("FARLANDS_X"), OS.get_environment("FARLANDS_Y")]


func _ready():
	if url == "":
		url = "http://127.0.0.1:8080/default"
	for i in 2:
		if near[i] == "":
			near[i] = "0"
	# End in any case.
	get_tree().create_timer(300).connect("timeout", get_tree(), "quit", [1])
	var why = yield(run(), "completed")
	if why != "":
		printerr(why)
	get_tree().quit(0 if why == "" else 1)


# All digits of a place; str() drops some of a large float.
func decimal(number):
	return "%d" % number if number == floor(number) else "%.10f" % number


# The body of the response, or null.
func fetch(path):
	var request = HTTPRequest.new()
	request.timeout = 10
	add_child(request)
	var body = null
	if request.request(url + path) == OK:
		var response = yield(request, "request_completed")
		if response[0] == HTTPRequest.RESULT_SUCCESS and response[1] == 200:
			body = response[3]
		else:
			printerr("%s%s: result %d, status %d: %s" % [url, path, response[0], response[1],
				response[3].get_string_from_utf8()])
	else:
		yield(get_tree(), "idle_frame")
	request.queue_free()
	return body


func fetch_json(path):
	var body = yield(fetch(path), "completed")
	return null if body == null else JSON.parse(body.get_string_from_utf8()).result


# Little-endian floats, row by row, north first, as a height map has them: z grows south.
func read_heights(body, ground):
	var stream = StreamPeerBuffer.new()
	stream.data_array = body
	var heights = PoolRealArray()
	for _i in SIDE * SIDE:
		heights.append(stream.get_float() - ground)
	return heights


func add_ground(heights):
	var shape = HeightMapShape.new()
	shape.map_width = SIDE
	shape.map_depth = SIDE
	shape.map_data = heights
	add_body(StaticBody.new(), shape)


func add_ball():
	var shape = SphereShape.new()
	shape.radius = RADIUS
	var ball = RigidBody.new()
	ball.mode = RigidBody.MODE_CHARACTER  # it does not roll
	ball.friction = 1
	ball.translation = Vector3(EAST, RADIUS + DROP, SOUTH)
	add_body(ball, shape)
	return ball


func add_body(body, shape):
	var collision = CollisionShape.new()
	collision.shape = shape
	body.add_child(collision)
	add_child(body)


# A ball touches the nearest ground. On a slope s its center is RADIUS * (sqrt(1 + s^2) - 1) higher above the
# ground below it than its radius; in a dip, up to that value for the steepest slope around.
func tolerance(heights, east, south):
	var half = (SIDE - 1) / 2
	var at = int(round(south) + half) * SIDE + int(round(east) + half)
	var steepest = Vector2(0, 0)
	for row in [-SIDE, 0, SIDE]:
		for column in [-1, 0, 1]:
			var here = heights[at + row + column]
			steepest.x = max(steepest.x, abs(heights[at + row + column + 1] - here))
			steepest.y = max(steepest.y, abs(heights[at + row + column + SIDE] - here))
	return RADIUS * (sqrt(1 + steepest.length_squared()) - 1) + TOUCH


func run():
	# A block has whole coordinates, which a script's 64-bit floats hold.
	var spawn = yield(fetch_json("/spawn?x=%s&y=%s&slope=%s" % [near[0], near[1], SLOPE]), "completed")
	if spawn == null:
		return "no place to drop a ball on"
	print("drop at block (%d, %d), %.3f m high, slope %.4f" % [spawn.x, spawn.y, spawn.height, spawn.slope])

	# The scene's origin: that block minus the ball's offset.
	var x = spawn.x - EAST
	var y = spawn.y - SOUTH
	var half = (SIDE - 1) / 2
	var body = yield(fetch("/region.f32?x=%s&y=%s&width=%d&height=%d" % [decimal(x - half), decimal(y - half),
		SIDE, SIDE]), "completed")
	if body == null or body.size() != 4 * SIDE * SIDE:
		return "no ground"
	var heights = read_heights(body, spawn.height)
	add_ground(heights)
	var ball = add_ball()

	for _frame in 600:
		yield(get_tree(), "physics_frame")
		if ball.sleeping:
			break
	if not ball.sleeping:
		return "the ball does not come to rest: now at %s, %s m/s" % [ball.translation, ball.linear_velocity]

	# Coordinates have steps of 1/1024 block.
	var east = stepify(ball.translation.x, 1.0 / 1024)
	var south = stepify(ball.translation.z, 1.0 / 1024)
	var place = yield(fetch_json("/height?x=%s&y=%s" % [decimal(x + east), decimal(y + south)]),
		"completed")
	if place == null:
		return "no height"
	var rest = ball.translation.y - RADIUS
	var ground = place.height - spawn.height
	var accepted = tolerance(heights, east, south)
	print("rests %+.3f east, %+.3f south of it at %.4f m, on ground of %.4f m: off by %+.4f, of %.4f" % [
		east - EAST, south - SOUTH, spawn.height + rest, place.height, rest - ground, accepted])
	return "" if abs(rest - ground) <= accepted else "the ball does not rest on the ground"
